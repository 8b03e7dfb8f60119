// A Winograd filter transform.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones | FileCheck %s
// CHECK: {{\[\[\[\[}} 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}}-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.11111112  0.11111112]
// CHECK-NEXT: [ 0.11111112  0.11111112]
// CHECK-NEXT: [ 0.11111112  0.11111112]
// CHECK-NEXT: [ 0.11111112  0.11111112]
// CHECK-NEXT: [ 0.11111112  0.11111112]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.33333337  0.33333337]
// CHECK-NEXT: [ 0.33333337  0.33333337]
// CHECK-NEXT: [ 0.33333337  0.33333337]
// CHECK-NEXT: [ 0.33333337  0.33333337]
// CHECK-NEXT: [ 0.33333337  0.33333337]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}}-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.33333334  0.33333334]
// CHECK-NEXT: [ 0.33333334  0.33333334]
// CHECK-NEXT: [ 0.33333334  0.33333334]
// CHECK-NEXT: [ 0.33333334  0.33333334]
// CHECK-NEXT: [ 0.33333334  0.33333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}} 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]
// CHECK-NEXT: [-0.08333334 -0.08333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]
// CHECK-NEXT: [-0.25       -0.25      ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.0625      0.0625    ]
// CHECK-NEXT: [ 0.0625      0.0625    ]
// CHECK-NEXT: [ 0.0625      0.0625    ]
// CHECK-NEXT: [ 0.0625      0.0625    ]
// CHECK-NEXT: [ 0.0625      0.0625    ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}} 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]
// CHECK-NEXT: [-0.19444446 -0.19444446]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]
// CHECK-NEXT: [-0.5833334  -0.5833334 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]
// CHECK-NEXT: [ 0.14583334  0.14583334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.3402778   0.3402778 ]
// CHECK-NEXT: [ 0.3402778   0.3402778 ]
// CHECK-NEXT: [ 0.3402778   0.3402778 ]
// CHECK-NEXT: [ 0.3402778   0.3402778 ]
// CHECK-NEXT: [ 0.3402778   0.3402778 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}} 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]
// CHECK-NEXT: [-0.33333334 -0.33333334]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]
// CHECK-NEXT: [-1.         -1.        ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]
// CHECK-NEXT: [ 0.25        0.25      ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]
// CHECK-NEXT: [ 0.5833334   0.5833334 ]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]
// CHECK-NEXT: [ 1.          1.        ]]]]
func.func @main(%f: tensor<2x3x3x5xf32>) -> tensor<6x6x5x2xf32> {
 %e = tensor.empty() : tensor<6x6x5x2xf32>
 %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%e : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
 return %r : tensor<6x6x5x2xf32> }
