//! The report of a small layer: what the page holds, and what it does in a browser where there is one.

use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tinymlir_passes::{context, ir::Op, parse, run_pipeline_watched};
use tinymlir_report::{Event, Run, Show, Subject, Watch};

const LAYER: &str = include_str!("../../test/opt/inputs/layer.mlir");

/// The page of the layer.
fn page(folder: &Path, stages: &[(&str, &str)], run: Option<Run>) -> PathBuf {
    page_of(LAYER, folder, stages, run)
}

/// Compiles a module through these pipelines, the stages by name, and returns the page.
fn page_of(text: &str, folder: &Path, stages: &[(&str, &str)], run: Option<Run>) -> PathBuf {
    let file = folder.join("report.html");
    let mut watch = Watch::new(Show { report: Some(file.clone()), ..Show::default() });
    watch.subject(Subject::of_command("a/layer.mlir", text.as_bytes(), "sm_90"));
    let context = context();
    let mut module = parse(&context, text.as_bytes(), "a/layer.mlir").unwrap();
    watch.stage("tensor", Op::of(&module));
    for (stage, pipeline) in stages {
        let pipeline = format!("builtin.module({pipeline})");
        run_pipeline_watched(&context, &mut module, &pipeline, Some(&mut watch), false).unwrap();
        watch.stage(stage, Op::of(&module));
    }
    if let Some(run) = run {
        watch.ran(run);
    }
    watch.finish().unwrap();
    file
}

const CPU: &[(&str, &str)] =
    &[("optimized", "tinymlir-optimize"), ("bufferized", "tinymlir-bufferize"), ("lowered", "tinymlir-lower-cpu")];
const GPU: &[(&str, &str)] = &[
    ("optimized", "tinymlir-optimize"),
    ("bufferized", "tinymlir-bufferize"),
    ("outlined", "tinymlir-gpu-outline{schedule=fast chip=sm_90}"),
];

/// A page, names without the places where they may be broken.
fn read(file: PathBuf) -> String {
    std::fs::read_to_string(file).unwrap().replace("<wbr>", "")
}

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    &text[start..start + text[start..].find(to).unwrap()]
}

/// The data that goes along, as the script reads it.
fn data(page: &str) -> serde_json::Value {
    use base64::Engine as _;
    use std::io::Read as _;
    let packed = between(page, "<script type=\"application/gzip\" id=\"data\">", "</script>");
    let packed = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn kernels_come_with_their_operations_template_and_work() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = vec![("matmul_skinny_f32_8_epilogue".to_owned(), 5.0)];
    let run =
        Run { entry: "layer".into(), kernels, peak_bytes: Some(4.8e12), peak_flops: Some(6e13), ..Run::default() };
    let page = read(page(folder.path(), GPU, Some(run)));
    let table = between(&page, "<table id=\"kernel-table\">", "</table>");
    let row = table.split("<tr ").find(|row| row.contains("matmul_skinny_f32_8_epilogue")).unwrap();
    // The product, the fill before it and what follows it, by their lines; 8x16x32 multiplications and additions, two
    // operations on each of 8x32 elements after them.
    for expected in [
        "linalg.generic",
        "linalg.matmul",
        "layer.mlir:5",
        "templates",
        "matmul_skinny.mlir",
        "K x N",
        "8.70 k",
        "5.00 µs",
        "8x16xf32",
    ] {
        assert!(row.contains(expected), "{expected} is not in {row}");
    }
    assert!(!row.contains("? ×"), "{row}");
}

#[test]
fn operations_on_the_cpu_come_with_what_became_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let page = read(page(folder.path(), CPU, None));
    let row = between(&page, "<td class=\"name\">cblas_sgemm", "</tr>");
    assert!(row.contains("linalg.matmul") && row.contains("layer.mlir:5") && row.contains("8.19 k"), "{row}");
    assert!(page.contains("becomes cblas_sgemm: 8x16x32"));
    // Nothing from elsewhere.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains(" src="));
}

#[test]
fn the_plan_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let page = read(page(folder.path(), CPU, None));
    let svg = between(&page, "<svg ", "</svg>");
    assert!(svg.matches("<rect ").count() >= 2 && svg.contains("8x32xf32"), "{svg}");
    assert!(between(&page, "<dt>in use at once</dt>", "</dd>").contains("kB"));
}

/// Four buffers one after the other, of which two are alive at a time.
const CHAIN: &str = "func.func @chain(%x: memref<4x64xf32>, %y: memref<4x64xf32>) {
  %a = memref.alloc() : memref<4x64xf32>
  linalg.exp ins(%x : memref<4x64xf32>) outs(%a : memref<4x64xf32>)
  %b = memref.alloc() : memref<4x64xf32>
  linalg.tanh ins(%a : memref<4x64xf32>) outs(%b : memref<4x64xf32>)
  %c = memref.alloc() : memref<4x64xf32>
  linalg.exp ins(%b : memref<4x64xf32>) outs(%c : memref<4x64xf32>)
  linalg.tanh ins(%c : memref<4x64xf32>) outs(%y : memref<4x64xf32>)
  memref.dealloc %a : memref<4x64xf32>
  memref.dealloc %b : memref<4x64xf32>
  memref.dealloc %c : memref<4x64xf32>
  return
}
";

#[test]
fn an_arena_is_drawn_with_its_size_and_its_bound() {
    for gpu in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let stages: &[(&str, &str)] = match gpu {
            // The loops are gone where the plan is made, and the views soon after.
            true => &[("outlined", "tinymlir-gpu-outline{memory=device}")],
            false => &[("planned", "tinymlir-plan-memory"), ("lowered", "tinymlir-lower-cpu")],
        };
        let page = std::fs::read_to_string(page_of(CHAIN, folder.path(), stages, None)).unwrap();
        let plan = between(&page, "<figure class=\"plan\">", "</figure>");
        // The first and the third are at the same place, under the second.
        assert!(between(plan, "<dt>its size</dt>", "</div>").contains("2.05 kB"), "{plan}");
        assert!(between(plan, "<dt>bound: in use at once</dt>", "</div>").contains("2.05 kB"), "{plan}");
        assert!(between(plan, "<dt>without sharing</dt>", "</div>").contains("3.07 kB"), "{plan}");
        assert!(plan.contains("class=\"arena\"") && !plan.contains("above the bound"), "{plan}");
        let places: Vec<&str> =
            plan.split(" · at byte ").skip(1).map(|rest| rest.split(" used in ").next().unwrap()).collect();
        assert_eq!(places, ["0 of the arena ·", "1024 of the arena ·", "0 of the arena ·"]);
        let steps: Vec<&str> =
            plan.split("used in steps ").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
        assert_eq!(steps, ["1 to 2 of 4", "2 to 3 of 4", "3 to 4 of 4"]);
        assert_eq!(plan.matches("class=\"bar elementwise\"").count(), 3, "{plan}");
        if gpu {
            // A kernel's buffers are those in the arena.
            assert!(between(&page, "<table id=\"kernel-table\">", "</table>").contains("4x64xf32"));
            assert!(plan.contains("Arena of device memory"));
        }
    }
}

#[test]
fn texts_and_diffs_go_along_with_the_lines_they_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(page(folder.path(), GPU, None)).unwrap();
    let data = data(&page);
    let titles: Vec<&str> =
        data["snapshots"].as_array().unwrap().iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["source", "tensor", "optimized", "bufferized", "outlined"]);
    // The launch knows line 5, the matmul's.
    let outlined = &data["snapshots"][4];
    let lines: Vec<&str> = outlined["text"].as_str().unwrap().lines().collect();
    let launch = lines.iter().position(|l| l.contains("@matmul_skinny_f32") && l.contains("launch_func")).unwrap();
    let number = outlined["sources"][launch].as_u64().unwrap() as usize;
    let files = data["files"].as_array().unwrap();
    let places: Vec<(&str, u64)> = data["sources"][number]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (files[p[0].as_u64().unwrap() as usize].as_str().unwrap(), p[1].as_u64().unwrap()))
        .collect();
    assert!(places.contains(&("a/layer.mlir", 5)), "{places:?}");
    let fuse = data["steps"].as_array().unwrap().iter().find(|s| s["pass"] == "tinymlir-fuse").unwrap();
    assert!(fuse["diff"].as_str().unwrap().lines().any(|l| l.starts_with('+') && l.contains("arith.maximumf")));
}

/// Every operation stands where it is said to stand: a line with a place holds the start of an operation.
fn check_places(data: &serde_json::Value) {
    for snapshot in data["snapshots"].as_array().unwrap().iter().skip(1) {
        let lines: Vec<&str> = snapshot["text"].as_str().unwrap().lines().collect();
        assert_eq!(lines.len(), snapshot["sources"].as_array().unwrap().len());
        for (line, number) in lines.iter().zip(snapshot["sources"].as_array().unwrap()) {
            let line = line.trim();
            assert!(number == 0 || !(line.is_empty() || line.starts_with('}') || line.starts_with('^')), "{line}");
        }
    }
}

#[test]
fn lines_are_those_of_their_operations() {
    for stages in [CPU, GPU] {
        let folder = tempfile::tempdir().unwrap();
        let page = std::fs::read_to_string(page(folder.path(), stages, None)).unwrap();
        check_places(&data(&page));
    }
}

#[test]
fn several_modules_are_not_compared_with_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let mut watch = Watch::new(Show { report: Some(file.clone()), ..Show::default() });
    let context = context();
    for text in [
        LAYER,
        "func.func @other(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  %z = arith.addi %x, %x : i32\n  %s = arith.muli %y, %z : i32\n  return %s : i32\n}\n",
    ] {
        let mut module = parse(&context, text.as_bytes(), "a.mlir").unwrap();
        run_pipeline_watched(&context, &mut module, "builtin.module(cse)", Some(&mut watch), false).unwrap();
    }
    watch.finish().unwrap();
    let data = data(&std::fs::read_to_string(file).unwrap());
    let snapshots = data["snapshots"].as_array().unwrap();
    let titles: Vec<&str> = snapshots.iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["input", "cse", "input", "cse"]);
    assert!(
        snapshots[2]["hunks"].is_null() && snapshots[3]["hunks"] == serde_json::json!([[3, 5, 3, 4]]),
        "{snapshots:?}"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let mut watch = Watch::new(Show { report: Some("/nowhere/at/all.html".into()), ..Show::default() });
    watch.subject(Subject::of_command("x.mlir", b"", ""));
    let error = format!("{:#}", watch.finish().unwrap_err());
    assert!(error.starts_with("cannot write /nowhere/at/all.html"), "{error}");
}

/// A Chromium, by the names that distributions give it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"];
    let mut found = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    found.find(|file| file.is_file())
}

/// What a person does, by a script behind the page's own; what came of it ends up in the title.
const PERSON: &str = include_str!("person.html");

/// The page of the layer and of a function that most passes leave alone, long enough to be folded and with a name that is HTML.
fn page_for_a_browser(folder: &Path) -> PathBuf {
    let event = |name: &str, track, start| Event { name: name.into(), track, start, time: 3.0 };
    let events = vec![event("call @layer", "host", 0.0), event("matmul", "card", 4.0), event("matmul", "card", 9.0)];
    let step = |i: usize| {
        format!("  %{i} = arith.{} %{}, %x : i32\n", if i.is_multiple_of(2) { "muli" } else { "addi" }, i - 1)
    };
    let steps: String = (1..60).map(step).collect();
    let name = "</script><img src=x onerror=alert(1)><b id=x>é";
    let kept = format!(
        "func.func @\"{name}\"(%x: i32, %0: i32, %b: memref<4x8xf32> {{tinymlir.name = \"{name}\"}}) -> i32 {{\n{steps}
  %a = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%b : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  linalg.exp ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)
  memref.dealloc %a : memref<4x8xf32>
  return %59 : i32\n}}\n"
    );
    page_of(&format!("{LAYER}\n{kept}"), folder, GPU, Some(Run { events, ..Run::default() }))
}

/// What the page's title says after a script ran behind the page's own.
fn in_a_browser(chromium: &Path, page: &Path, script: &str, size: &str) -> serde_json::Value {
    let folder = page.parent().unwrap();
    let file = folder.join("scripted.html");
    std::fs::write(&file, std::fs::read_to_string(page).unwrap().replace("</body>", script)).unwrap();
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = between(&dom, "<title>", "</title>");
    let json = title.strip_prefix("RESULT ").unwrap_or_else(|| panic!("{title}"));
    serde_json::from_str(&json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap()
}

#[test]
fn a_browser_shows_searches_unfolds_and_follows() {
    let Some(chromium) = chromium() else {
        eprintln!("SKIPPED: no Chromium on PATH, so that the report's script was not run");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = page_for_a_browser(folder.path());
    // The three columns, two of them, and a phone's one.
    for size in ["1500,900", "1000,800", "500,850"] {
        let out = in_a_browser(&chromium, &page, PERSON, size);
        assert_eq!(out["stages"], 5, "{out}");
        assert!(out["rows"].as_u64() > Some(5), "{out}");
        assert!(out["hits"].as_str().unwrap().ends_with(" hits") && out["hits"] != "0 hits", "{out}");
        assert!(!out["found"].as_array().unwrap().is_empty(), "{out}");
        assert!(out["folded"].as_u64().is_some() && out["unfolded"].as_u64() > out["folded"].as_u64(), "{out}");
        let follow = out["follow"].as_str().unwrap();
        for expected in ["layer.mlir:5", "becomes matmul_skinny_f32", "outlined", "bufferized"] {
            assert!(follow.contains(expected), "{expected} is not in {follow}");
        }
        assert!(
            out["kernels"] == true && out["back"].as_u64() > Some(0) && out["timeline"].as_u64() > Some(0),
            "{out}"
        );
        assert_eq!(
            out["events"],
            serde_json::json!(["matmulcard26.00 µs3.00 µs 100 %", "call @layerhost13.00 µs3.00 µs 100 %"])
        );
        assert_eq!(out["visible"], serde_json::json!(["list", "code", "follow", "search"]), "{size}: {out}");
        assert_eq!((&out["wide"], &out["foreign"]), (&serde_json::json!(0), &serde_json::json!(0)), "{size}: {out}");
    }
}

#[test]
fn names_are_text_whatever_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let page = read(page_for_a_browser(folder.path()));
    assert!(!page.contains("<img") && !page.contains("<b id"), "a name became HTML");
    assert!(
        page.contains("&lt;&#x2f;script&gt;&lt;img src=x")
            && page.contains("<b id=x>é".replace('<', "&lt;").replace('>', "&gt;").as_str())
    );
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let check = |file: PathBuf| Show { report: Some(file), ..Show::default() }.check();
    check(folder.path().join("new.html")).unwrap();
    check("/dev/null".into()).unwrap();
    assert!(format!("{:#}", check(folder.path().join("none/a.html")).unwrap_err()).contains("there is no folder"));
    let remarks = Show { remarks: Some("none/a.json".parse().unwrap()), ..Show::default() };
    assert!(format!("{:#}", remarks.check().unwrap_err()).contains("none/a.json: there is no folder none"));
}

#[test]
fn what_there_was_until_a_failure_is_shown_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let report = |text: &str| {
        let file = folder.path().join("report.html");
        let mut watch = Watch::new(Show { report: Some(file.clone()), ..Show::default() });
        watch.subject(Subject::of_command("a/layer.mlir", text.as_bytes(), "CPU"));
        let context = context();
        if let Ok(mut module) = parse(&context, text.as_bytes(), "a/layer.mlir") {
            watch.stage("tensor", Op::of(&module));
            let pipeline = "builtin.module(tinymlir-optimize,tinymlir-verify-bufferized,tinymlir-bufferize)";
            run_pipeline_watched(&context, &mut module, pipeline, Some(&mut watch), false).unwrap_err();
        }
        watch.stop("a <reason>").unwrap();
        file
    };
    assert!(!report("no MLIR").exists(), "nothing to show");
    let page = read(report(LAYER));
    let banner = between(&page, "<p class=\"failed\" role=\"alert\">", "</p>");
    assert!(banner.starts_with("The compilation failed in tinymlir-verify-bufferized: a &lt;reason&gt;"), "{banner}");
    let steps = data(&page)["steps"].to_string();
    assert!(steps.contains("tinymlir-fuse") && !steps.contains("one-shot-bufferize"));
}

#[test]
fn operations_that_a_pass_joined_are_told_apart_from_loops() {
    const FEW_ROWS: &str = "func.func @f(%a: memref<4x128xf32>, %b: memref<128x128xf32>, %c: memref<4x128xf32>) {
  linalg.matmul ins(%a, %b : memref<4x128xf32>, memref<128x128xf32>) outs(%c : memref<4x128xf32>)
  return
}
";
    let folder = tempfile::tempdir().unwrap();
    let stages = &[("products", "tinymlir-vector-matmul{vector-bits=256 most-rows=64}")];
    let page = read(page_of(FEW_ROWS, folder.path(), stages, None));
    let row = between(&page, "<td class=\"name\">tiles in registers", "</tr>");
    assert!(row.contains("linalg.matmul") && row.contains("becomes tiles of 4 x "), "{row}");
}
