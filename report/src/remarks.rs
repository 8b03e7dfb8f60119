//! Remarks as text, as YAML that LLVM's tools for optimisation remarks read, and as JSON, one a line.

use crate::{suggest::did_you_mean, terminal::Paint};
use anyhow::{Result, bail};
use serde::Serialize;
use std::{fmt::Write, path::PathBuf, str::FromStr};
use tinymlir_passes::ir::{Remark, RemarkKind};

/// How remarks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Yaml,
    Json,
}

/// How and where remarks are written: `text`, `yaml` or `json` on standard error, or a file whose name ends so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemarkStyle {
    format: Format,
    file: Option<PathBuf>,
}

impl RemarkStyle {
    /// The file, where it is not standard error.
    pub fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }
    /// A remark, with the end of its line.
    pub fn write(&self, remark: &Remark) -> String {
        let record = Record::of(remark);
        match self.format {
            Format::Text => record.text(if self.file.is_some() { Paint::none() } else { Paint::stderr() }),
            Format::Yaml => record.yaml(),
            Format::Json => serde_json::to_string(&record).map(|line| line + "\n").unwrap_or_default(),
        }
    }
}

impl FromStr for RemarkStyle {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<RemarkStyle> {
        let named = |name: &str| match name {
            "text" | "txt" | "" => Some(Format::Text),
            "yaml" | "yml" => Some(Format::Yaml),
            "json" | "jsonl" => Some(Format::Json),
            _ => None,
        };
        if let Some(format) = named(text) {
            return Ok(RemarkStyle { format, file: None });
        }
        let file = PathBuf::from(text);
        match file.extension().and_then(|e| named(&e.to_string_lossy())) {
            Some(format) => Ok(RemarkStyle { format, file: Some(file) }),
            None => bail!(
                "remarks are written as text, yaml or json, or to a file named .txt, .yaml or .json, not `{text}`{}",
                did_you_mean(text, ["text", "yaml", "json"])
            ),
        }
    }
}

/// A remark without MLIR.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// `passed`, `missed` or `analysis`.
    pub kind: &'static str,
    /// The pass that says it.
    pub pass: String,
    /// The function that it says it of.
    pub function: String,
    /// The file of the operation, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// One line.
    pub message: String,
    /// Facts by name.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub facts: serde_json::Map<String, serde_json::Value>,
}

impl Record {
    /// Of a remark.
    pub fn of(remark: &Remark) -> Record {
        let place = remark.loc.file();
        Record {
            kind: match remark.kind {
                RemarkKind::Passed => "passed",
                RemarkKind::Missed => "missed",
                RemarkKind::Analysis => "analysis",
            },
            pass: remark.pass.clone(),
            function: remark.function.clone(),
            line: place.as_ref().map(|p| p.1),
            column: place.as_ref().map(|p| p.2),
            file: place.map(|p| p.0),
            message: remark.message.clone(),
            facts: remark.parts.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect(),
        }
    }

    fn text(&self, paint: Paint) -> String {
        let place = match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        };
        let kind = match self.kind {
            "passed" => paint.green("remark:"),
            "missed" => paint.yellow("missed:"),
            _ => paint.cyan("analysis:"),
        };
        format!("{}{kind} {} {}\n", paint.bold(&place), self.message, paint.dim(&format!("[{}]", self.pass)))
    }

    /// As LLVM's `-fsave-optimization-record` writes it. Strings are those of JSON, which YAML contains.
    fn yaml(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let tag = match self.kind {
            "passed" => "Passed",
            "missed" => "Missed",
            _ => "Analysis",
        };
        let mut out = format!("--- !{tag}\nPass:            tinymlir\nName:            {}\n", quoted(&self.pass));
        if let (Some(file), Some(line), Some(column)) = (&self.file, self.line, self.column) {
            let _ = writeln!(out, "DebugLoc:        {{ File: {}, Line: {line}, Column: {column} }}", quoted(file));
        }
        let function = if self.function.is_empty() { "<unknown function>" } else { &self.function };
        let _ = write!(
            out,
            "Function:        {}\nArgs:\n  - Remark:          {}\n",
            quoted(function),
            quoted(&self.message)
        );
        for (name, value) in &self.facts {
            let _ = writeln!(out, "  - {}: {value}", quoted(name));
        }
        out + "...\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            kind: "passed",
            pass: "tinymlir-blas".into(),
            function: "main".into(),
            file: Some("a \"b\".mlir".into()),
            line: Some(3),
            column: Some(5),
            message: "'linalg.matmul' becomes cblas_sgemm".into(),
            facts: [("routine".to_owned(), "cblas_sgemm".into())].into_iter().collect(),
        }
    }

    #[test]
    fn text_starts_with_the_place() {
        let line = record().text(Paint::none());
        assert_eq!(line, "a \"b\".mlir:3:5: remark: 'linalg.matmul' becomes cblas_sgemm [tinymlir-blas]\n");
    }

    #[test]
    fn yaml_is_that_of_llvm() {
        let expected = "--- !Passed\nPass:            tinymlir\nName:            \"tinymlir-blas\"\nDebugLoc:        { File: \"a \\\"b\\\".mlir\", Line: 3, Column: 5 }\nFunction:        \"main\"\nArgs:\n  - Remark:          \"'linalg.matmul' becomes cblas_sgemm\"\n  - \"routine\": \"cblas_sgemm\"\n...\n";
        assert_eq!(record().yaml(), expected);
    }

    #[test]
    fn styles_are_names_or_files() {
        assert_eq!("yaml".parse::<RemarkStyle>().unwrap().file(), None);
        assert_eq!("".parse::<RemarkStyle>().unwrap().format, Format::Text);
        let file = "out/r.jsonl".parse::<RemarkStyle>().unwrap();
        assert!(file.format == Format::Json && file.file().is_some());
        assert!("loud".parse::<RemarkStyle>().is_err());
    }
}
