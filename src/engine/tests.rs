use super::*;
use crate::{DType, Tensor, compile};

fn load(source: &str) -> Result<Executable> {
    let context = tinymlir_passes::context();
    let module = tinymlir_passes::parse(&context, source.as_bytes(), "test.mlir").map_err(anyhow::Error::msg)?;
    load_module(&context, &module)
}

/// Through bytes, as the artefact cache does.
fn load_module(context: &tinymlir_passes::ir::Context, module: &tinymlir_passes::ir::Module) -> Result<Executable> {
    let bytes = Artefact::compile(context, module, 3, String::new(), &mut Phases::default())?.to_bytes()?;
    assert!(Artefact::from_bytes(&bytes[..7]).is_err() && Artefact::from_bytes(&bytes[..9]).is_err());
    Executable::load(&Artefact::from_bytes(&bytes)?, Memory::Managed, Phases::default())
}

fn message<T>(result: Result<T>) -> String {
    format!("{:#}", result.err().expect("an error"))
}

fn f32s(values: &[f32]) -> Value {
    Tensor::from_slice(&[values.len()], values).into()
}

/// Lowers memref-level functions with upstream's passes, then records `signature` as our lowering does.
fn load_memrefs(source: &str, signature: &str) -> Executable {
    let context = tinymlir_passes::context();
    let mut module = tinymlir_passes::parse(&context, source.as_bytes(), "test.mlir").unwrap();
    let pipeline = "builtin.module(convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,\
        convert-arith-to-llvm,finalize-memref-to-llvm{use-generic-functions=true},convert-func-to-llvm,\
        convert-cf-to-llvm,reconcile-unrealized-casts)";
    tinymlir_passes::run_pipeline(&context, &mut module, pipeline).unwrap();
    let f = Op::of(&module).lookup("f").unwrap();
    let ty = tinymlir_passes::ir::Attr::parse(f.ctx(), signature).unwrap();
    f.set_attr("tinymlir.signature", ty);
    load_module(&context, &module).unwrap()
}

#[test]
fn scalars_of_every_type() {
    let types = [("i1", DType::I1), ("i8", DType::I8), ("i16", DType::I16), ("i32", DType::I32), ("i64", DType::I64)];
    let floats = [("f16", DType::F16), ("bf16", DType::BF16), ("f32", DType::F32), ("f64", DType::F64)];
    for (mlir, dtype) in types.into_iter().chain(floats) {
        let exe = load(&format!(
            "llvm.func @f(%a: {mlir}, %b: {mlir}) -> !llvm.struct<({mlir}, {mlir})> {{
               %0 = llvm.mlir.undef : !llvm.struct<({mlir}, {mlir})>
               %1 = llvm.insertvalue %b, %0[0] : !llvm.struct<({mlir}, {mlir})>
               %2 = llvm.insertvalue %a, %1[1] : !llvm.struct<({mlir}, {mlir})>
               llvm.return %2 : !llvm.struct<({mlir}, {mlir})>
             }}"
        ))
        .unwrap();
        let value = |byte: u8| {
            let byte = if dtype == DType::I1 { byte & 1 } else { byte };
            Value::from(Tensor::from_bytes(dtype, &[], &vec![byte; dtype.size()]).unwrap())
        };
        let results = exe.call("f", &[value(0x12), value(0x35)]).unwrap();
        assert_eq!(results[0].to_tensor().unwrap().bytes(), value(0x35).to_tensor().unwrap().bytes(), "{mlir}");
        assert_eq!(results[1].to_tensor().unwrap().bytes(), value(0x12).to_tensor().unwrap().bytes(), "{mlir}");
    }
}

#[test]
fn arrays_go_in_and_out() {
    let exe = load_memrefs(
        "func.func @f(%a: memref<?xf32>, %k: f32, %n: memref<i64>) -> (memref<?xf32>, memref<?xf32>, index, memref<i64>) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %d = memref.dim %a, %c0 : memref<?xf32>
           %r = memref.alloc(%d) : memref<?xf32>
           scf.for %i = %c0 to %d step %c1 {
             %v = memref.load %a[%i] : memref<?xf32>
             %w = arith.mulf %v, %k : f32
             memref.store %w, %r[%i] : memref<?xf32>
           }
           return %r, %r, %d, %n : memref<?xf32>, memref<?xf32>, index, memref<i64>
         }",
        "(tensor<?xf32>, f32, tensor<i64>) -> (tensor<?xf32>, tensor<?xf32>, index, tensor<i64>)",
    );
    let n = Tensor::from_slice(&[], &[7i64]);
    for length in [0usize, 1, 1000] {
        let input: Vec<f32> = (0..length).map(|i| i as f32).collect();
        let twice: Vec<f32> = input.iter().map(|v| 2.0 * v).collect();
        let k = Tensor::from_slice(&[], &[2f32]);
        let results = exe.call("f", &[f32s(&input), k.into(), n.clone().into()]).unwrap();
        // The two results are one buffer: both are copied, and it is freed once.
        assert_eq!(results[0].to_tensor().unwrap().as_slice::<f32>(), Some(&twice[..]));
        assert_eq!(results[1].to_tensor().unwrap().as_slice::<f32>(), Some(&twice[..]));
        assert_eq!(results[2].to_tensor().unwrap().to_i64(), Some(vec![length as i64]));
        assert_eq!(results[3].to_tensor().unwrap().as_slice::<i64>(), Some(&[7i64][..]));
    }
    let error = message(exe.call("f", &[f32s(&[1.0])]));
    assert!(error.contains("takes 3 arguments, not 1"), "{error}");
    let wrong = Tensor::from_slice(&[1, 1], &[1f64]);
    let error = message(exe.call("f", &[wrong.into(), n.clone().into(), n.into()]));
    assert_eq!(error, "argument 0: expected tensor<?xf32>, got f64 of shape [1, 1]");
}

#[test]
fn results_of_any_layout_are_copied_and_freed() {
    let exe = load_memrefs(
        "func.func @f() -> memref<2x3xi32, strided<[1, 4], offset: 5>> {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %n = arith.constant 16 : index
           %r = memref.alloc() : memref<16xi32>
           scf.for %i = %c0 to %n step %c1 {
             %v = arith.index_cast %i : index to i32
             memref.store %v, %r[%i] : memref<16xi32>
           }
           %v = memref.reinterpret_cast %r to offset: [5], sizes: [2, 3], strides: [1, 4]
             : memref<16xi32> to memref<2x3xi32, strided<[1, 4], offset: 5>>
           return %v : memref<2x3xi32, strided<[1, 4], offset: 5>>
         }",
        "() -> memref<2x3xi32, strided<[1, 4], offset: 5>>",
    );
    let results = exe.call("f", &[]).unwrap();
    assert_eq!(results[0].to_tensor().unwrap().shape(), [2, 3]);
    assert_eq!(results[0].to_tensor().unwrap().as_slice::<i32>(), Some(&[5, 9, 13, 6, 10, 14][..]));
}

#[test]
fn a_written_memref_is_updated_in_place_only_there() {
    let body = "{
           %c1 = arith.constant 1 : index
           %v = arith.constant 9.0 : f32
           memref.store %v, %a[%c1, %c1] : TYPE
           return
         }";
    for ty in ["memref<2x2xf32>", "memref<2x2xf32, strided<[8, 2], offset: 3>>"] {
        let exe =
            load_memrefs(&format!("func.func @f(%a: {ty}) {}", body.replace("TYPE", ty)), &format!("({ty}) -> ()"));
        let original = Tensor::from_slice(&[2, 2], &[1f32, 2.0, 3.0, 4.0]);
        exe.call("f", &[original.clone().into()]).unwrap();
        assert_eq!(original.as_slice::<f32>(), Some(&[1f32, 2.0, 3.0, 4.0][..]));
        let mut arguments = [original.clone().into()];
        exe.call_in_place("f", &mut arguments).unwrap();
        assert_eq!(arguments[0].to_tensor().unwrap().as_slice::<f32>(), Some(&[1f32, 2.0, 3.0, 9.0][..]), "{ty}");
        assert_eq!(original.as_slice::<f32>(), Some(&[1f32, 2.0, 3.0, 4.0][..]));
    }
}

#[test]
fn unranked_arrays() {
    let exe = load_memrefs(
        "func.func @f(%a: memref<*xf32>) -> (memref<*xf32>, index) {
           %r = memref.rank %a : memref<*xf32>
           return %a, %r : memref<*xf32>, index
         }",
        "(tensor<*xf32>) -> (tensor<*xf32>, index)",
    );
    let results = exe.call("f", &[Tensor::from_slice(&[1, 2], &[3f32, 4.0]).into()]).unwrap();
    assert_eq!(results[0].to_tensor().unwrap().shape(), [1, 2]);
    assert_eq!(results[0].to_tensor().unwrap().as_slice::<f32>(), Some(&[3f32, 4.0][..]));
    assert_eq!(results[1].to_tensor().unwrap().to_i64(), Some(vec![2]));
}

#[test]
fn a_module_may_define_what_libc_defines() {
    let exe = load(
        "llvm.func @malloc(%a: i32) -> i32 { llvm.return %a : i32 }
         llvm.func @memcpy(%a: i32) -> i32 { %0 = llvm.add %a, %a : i32 llvm.return %0 : i32 }
         llvm.func @f(%a: i32) -> i32 {
           %0 = llvm.call @malloc(%a) : (i32) -> i32
           %1 = llvm.call @memcpy(%0) : (i32) -> i32
           llvm.return %1 : i32
         }",
    )
    .unwrap();
    let results = exe.call("f", &[Tensor::from_slice(&[], &[21i32]).into()]).unwrap();
    assert_eq!(results[0].to_tensor().unwrap().as_slice::<i32>(), Some(&[42][..]));
    assert_eq!(exe.functions().collect::<Vec<_>>(), ["f", "malloc", "memcpy"]);
}

#[test]
fn constructors_run_before_the_first_call_by_priority() {
    let exe = load(
        "llvm.mlir.global internal @state(1 : i32) : i32
         llvm.mlir.global_ctors ctors = [@second, @first], priorities = [20 : i32, 10 : i32], data = [#llvm.zero, #llvm.zero]
         llvm.func @step(%mul: i32, %add: i32) {
           %p = llvm.mlir.addressof @state : !llvm.ptr
           %0 = llvm.load %p : !llvm.ptr -> i32
           %1 = llvm.mul %0, %mul : i32
           %2 = llvm.add %1, %add : i32
           llvm.store %2, %p : i32, !llvm.ptr
           llvm.return
         }
         llvm.func @first() {
           %a = llvm.mlir.constant(10 : i32) : i32
           %b = llvm.mlir.constant(0 : i32) : i32
           llvm.call @step(%a, %b) : (i32, i32) -> ()
           llvm.return
         }
         llvm.func @second() {
           %a = llvm.mlir.constant(1 : i32) : i32
           %b = llvm.mlir.constant(5 : i32) : i32
           llvm.call @step(%a, %b) : (i32, i32) -> ()
           llvm.return
         }
         llvm.func @f() -> i32 {
           %p = llvm.mlir.addressof @state : !llvm.ptr
           %0 = llvm.load %p : !llvm.ptr -> i32
           llvm.return %0 : i32
         }",
    )
    .unwrap();
    assert_eq!(exe.call("f", &[]).unwrap()[0].to_tensor().unwrap().as_slice::<i32>(), Some(&[15][..]));
}

#[test]
fn math_functions_resolve_and_vectorise() {
    let source = "func.func @f(%a: memref<64xf32>) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %n = arith.constant 64 : index
           scf.for %i = %c0 to %n step %c1 {
             %v = memref.load %a[%i] : memref<64xf32>
             %w = llvm.intr.exp(%v) : (f32) -> f32
             memref.store %w, %a[%i] : memref<64xf32>
           }
           return
         }";
    let exe = load_memrefs(source, "(memref<64xf32>) -> ()");
    let input: Vec<f32> = (0..64).map(|i| (i as f32 - 32.0) / 8.0).collect();
    let mut arguments = [f32s(&input)];
    exe.call_in_place("f", &mut arguments).unwrap();
    for (x, y) in input.iter().zip(arguments[0].to_tensor().unwrap().as_slice::<f32>().unwrap()) {
        assert!((y / x.exp() - 1.0).abs() < 1e-6, "exp({x}) = {y}");
    }
}

#[test]
fn what_cannot_be_called_says_why() {
    let error = message(load(
        "llvm.func @nowhere(i32)\nllvm.func @f() { %0 = llvm.mlir.constant(1 : i32) : i32\n llvm.call @nowhere(%0) : (i32) -> ()\n llvm.return }",
    ));
    assert_eq!(error, "test.mlir:1:1: error: the module uses what neither it nor the runtime defines: @nowhere");

    let exe = load("llvm.func @f(%a: !llvm.ptr) { llvm.return }\nllvm.func @g() { llvm.return }").unwrap();
    let error = message(exe.call("f", &[]));
    assert!(
        error.starts_with("`f` cannot be called: it is in the LLVM dialect without a `tinymlir.signature`"),
        "{error}"
    );
    assert_eq!(message(exe.call("h", &[])), "there is no public function `h`; there is f, g");

    let lying = "llvm.func @f(%a: i32) attributes {tinymlir.signature = (tensor<4xf32>) -> ()} { llvm.return }";
    let error = message(load(lying).unwrap().call("f", &[]));
    assert!(error.contains("recorded signature @f(tensor<4xf32>) -> () is not that of its code"), "{error}");

    let error = message(load("func.func @f() { return }"));
    assert_eq!(error, "test.mlir:1:1: error: 'func.func' op cannot be run: no pass lowered it to the LLVM dialect");
}

#[test]
fn bit_patterns_stand_for_types_without_a_numpy_name() {
    let array = |dtype| ValueType::Array { dtype, shape: vec![None], layout: None };
    let to = |t: &Tensor, dtype| conform(t, &array(dtype));
    let bf16 = to(&Tensor::from_slice(&[1], &[0x3f80u16]), DType::BF16).unwrap();
    assert_eq!(bf16.to_f64(), Some(vec![1.0]));
    let index = to(&Tensor::from_slice(&[2], &[3i32, -1]), DType::Index).unwrap();
    assert_eq!(index.to_i64(), Some(vec![3, -1]));
    let i4 = to(&Tensor::from_slice(&[2], &[7i8, -8]), DType::I4).unwrap();
    assert_eq!((i4.bytes(), i4.to_i64()), (&[7u8, 8][..], Some(vec![7, -8])));
    let error = message(to(&Tensor::from_slice(&[1], &[8i8]), DType::I4));
    assert_eq!(error, "expected tensor<?xi4>, got i8 with the value 8, which i4 cannot hold");
    let error = message(to(&Tensor::from_slice(&[1], &[1f32]), DType::Index));
    assert_eq!(error, "expected tensor<?xindex>, got f32");
}

fn compiled(source: &str) -> Executable {
    crate::compile::compile(source, &Default::default()).unwrap()
}

/// A cache that is updated, returned, and read; and a result of its own.
const STEP: &str =
    "func.func @step(%cache: tensor<4x2xf32> {tinymlir.writable, tinymlir.name = \"cache\"}, %row: tensor<1x2xf32>,
        %at: tensor<1xi32>) -> (tensor<4x2xf32>, tensor<2xf32>) {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %p = tensor.extract %at[%c0] : tensor<1xi32>
      %i = arith.index_cast %p : i32 to index
      %new = tensor.insert_slice %row into %cache[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
      %e = tensor.empty() : tensor<2xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      %s = linalg.reduce { arith.addf } ins(%new : tensor<4x2xf32>) outs(%f : tensor<2xf32>) dimensions = [0]
      return %new, %s : tensor<4x2xf32>, tensor<2xf32>
    }";

#[test]
fn a_cache_is_updated_where_it_is() {
    let exe = compiled(STEP);
    let signature = exe.signature("step").unwrap();
    assert_eq!(signature.results[0].argument, Some(0));
    assert_eq!(signature.results[0].name.as_deref(), Some("cache"));
    let row = |i: i32| -> [Value; 2] {
        [Tensor::from_slice(&[1, 2], &[i as f32, 1.0]).into(), Tensor::from_slice(&[1], &[i]).into()]
    };
    let mut cache: Value = Tensor::zeros(DType::F32, &[4, 2]).into();
    let place = |cache: &Value| cache.to_tensor().unwrap().bytes().as_ptr();
    let start = place(&cache);
    for i in 0..3 {
        let [new, at] = row(i);
        let mut arguments = [cache, new, at];
        let sum = exe.call_in_place("step", &mut arguments).unwrap().remove(1);
        assert_eq!(sum.to_tensor().unwrap().as_slice::<f32>().unwrap()[1], (i + 1) as f32);
        [cache, _, _] = arguments;
    }
    assert_eq!(place(&cache), start, "no step copies the cache");
    assert_eq!(cache.to_tensor().unwrap().as_slice::<f32>(), Some(&[0f32, 1.0, 1.0, 1.0, 2.0, 1.0, 0.0, 0.0][..]));

    // The result is the updated array, and `call` leaves the caller's alone.
    let [new, at] = row(3);
    let results = exe.call("step", &[cache.clone(), new, at]).unwrap();
    assert_eq!(results[0].to_tensor().unwrap().as_slice::<f32>().unwrap()[6..], [3.0, 1.0]);
    assert_eq!(cache.to_tensor().unwrap().as_slice::<f32>().unwrap()[6..], [0.0, 0.0]);
}

/// Runs alone in a process of its own, since it counts every allocation.
#[test]
#[ignore = "started by results_leave_nothing_behind"]
fn alone() {
    let exe = compiled(STEP);
    let more = compiled(
        "func.func @same(%a: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3x?xf32>) {
           %c0 = arith.constant 0 : index
           %n = tensor.dim %a, %c0 : tensor<?x3xf32>
           %e = tensor.empty(%n) : tensor<3x?xf32>
           %t = linalg.transpose ins(%a : tensor<?x3xf32>) outs(%e : tensor<3x?xf32>) permutation = [1, 0]
           return %a, %a, %t : tensor<?x3xf32>, tensor<?x3xf32>, tensor<3x?xf32>
         }",
    );
    for _ in 0..3 {
        let arguments = [[4, 2], [1, 2]].map(|shape| Tensor::zeros(DType::F32, &shape).into());
        let [cache, row] = arguments;
        exe.call("step", &[cache, row, Tensor::zeros(DType::I32, &[1]).into()]).unwrap();
        let results =
            more.call("same", &[Tensor::from_slice(&[2, 3], &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]).into()]).unwrap();
        assert_eq!(results[2].to_tensor().unwrap().as_slice::<f32>(), Some(&[0f32, 3.0, 1.0, 4.0, 2.0, 5.0][..]));
    }
    assert_eq!(tinymlir_runtime::live_allocations(), 0);
    println!("nothing is left");
}

#[test]
fn results_leave_nothing_behind() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["engine::tests::alone", "--exact", "--ignored", "--nocapture"];
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("nothing is left"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn arguments_made_from_tensors_are_only_read_unless_marked() {
    let text = "func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32> {tinymlir.writable}) -> tensor<4xf32> {
        %0 = arith.addf %a, %b : tensor<4xf32>
        return %0 : tensor<4xf32>
    }";
    let writable = |text: &str| {
        let executable = compile::compile(text, &compile::Options::default()).unwrap();
        executable.signature("f").unwrap().arguments.iter().map(|a| a.writable).collect::<Vec<_>>()
    };
    assert_eq!(writable(text), [false, true]);
    // As text between the stages, too; of memrefs nothing is known.
    let lowered = compile::lower_to(text, compile::Stage::Lowered, &compile::Options::default()).unwrap();
    assert_eq!(writable(&lowered), [false, true]);
    assert_eq!(writable("func.func @f(%a: memref<4xf32>) { return }"), [true]);
}
