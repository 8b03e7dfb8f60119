//! What a call gave: saved, compared or printed, as the flags say.

use super::{Flags, print};
use anyhow::{Context, Result, ensure};
use tinymlir::{
    Tensor,
    engine::{Signature, Value, conform, describe},
    io::{Staged, npy},
    look::files::{beside, is_special},
    run,
};
use tinymlir_cli::plain;

/// What is wrong with the files that are to be written, before the work that they are for.
pub fn check(flags: &Flags) -> Result<()> {
    for text in &flags.output {
        output_file(text)?;
    }
    for text in &flags.expect {
        run::split_assignment(text, "INDEX|NAME=FILE")?;
    }
    let files = flags.output.iter().filter_map(|text| Some(output_file(text).ok()?.1.as_ref()));
    let mut files = files.chain(flags.trace.as_deref()).filter(|file| !is_special(file));
    files.try_for_each(|file| beside(file).map(drop))
}

/// Of `-o WHICH=FILE.npy`.
fn output_file(text: &str) -> Result<(&str, &str)> {
    let (which, file) = run::split_assignment(text, "INDEX|NAME=FILE.npy")?;
    ensure!(file.ends_with(".npy"), "-o {text}: outputs are saved as .npy");
    Ok((which, file))
}

/// An output: what it is called, and its value.
pub struct Output {
    name: Option<String>,
    label: String,
    tensor: Tensor,
}

/// The results, then the writable arguments whose elements are not what they were.
pub fn outputs(signature: &Signature, before: &[Value], after: Vec<Value>, results: Vec<Value>) -> Result<Vec<Output>> {
    let mut outputs = Vec::new();
    for (i, (result, output)) in results.into_iter().zip(&signature.results).enumerate() {
        let label = output.name.as_ref().map_or(format!("result {i}"), |name| format!("result {i} ({name})"));
        outputs.push(Output { name: output.name.clone(), label, tensor: result.to_tensor()? });
    }
    for (i, (argument, after)) in signature.arguments.iter().zip(after).enumerate() {
        let is_result = signature.results.iter().any(|r| r.argument == Some(i));
        if argument.writable && !is_result {
            let tensor = after.to_tensor()?;
            if tensor.bytes() != conform(&before[i].to_tensor()?, &argument.ty)?.bytes() {
                outputs.push(Output { name: argument.name.clone(), label: describe(i, argument), tensor });
            }
        }
    }
    Ok(outputs)
}

/// Saves, compares and prints. Nothing is saved unless all can be; what is saved or compared is not printed.
pub fn finish(flags: &Flags, outputs: &[Output]) -> Result<()> {
    let names: Vec<Option<&str>> = outputs.iter().map(|o| o.name.as_deref()).collect();
    let mut printed = vec![true; outputs.len()];
    let mut staged = Staged::default();
    for text in &flags.output {
        let (which, file) = output_file(text)?;
        let index = run::find(which, &names, "output")?;
        printed[index] = false;
        staged.add(file.as_ref(), &npy::encode(&outputs[index].tensor))?;
    }
    let mut expected = Vec::new();
    for text in &flags.expect {
        let (which, file) = run::split_assignment(text, "INDEX|NAME=FILE")?;
        let index = run::find(which, &names, "output")?;
        printed[index] = false;
        expected.push((index, file, run::read_array(file)?));
    }
    staged.commit()?;

    let shown: Vec<&Output> = outputs.iter().zip(&printed).filter(|(_, p)| **p).map(|(o, _)| o).collect();
    let mut text = String::new();
    for output in &shown {
        if outputs.len() > 1 {
            text += &format!("{}:\n", plain(&output.label));
        }
        text += &format!("{}\n", run::numpy(&output.tensor));
    }
    let mut failures = Vec::new();
    for (index, file, expected) in expected {
        let Output { label, tensor, .. } = &outputs[index];
        let comparison =
            run::compare(tensor, &expected, flags.rtol, flags.atol).with_context(|| format!("{label}: {file}"))?;
        let line = format!("{label}: {comparison} (rtol {:e}, atol {:e})", flags.rtol, flags.atol);
        match comparison.close {
            true => text += &format!("{}\n", plain(&line)),
            false => failures.push(line),
        }
    }
    print(&text)?;
    ensure!(failures.is_empty(), "{}", failures.join("\nerror: "));
    Ok(())
}
