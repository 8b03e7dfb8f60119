//! Text to token ids and back.

use anyhow::{Result, anyhow, ensure};
use std::path::Path;
use tokenizers::{AddedToken, models::bpe::BPE, pre_tokenizers::byte_level::ByteLevel};

/// A model's tokenizer; without one each byte of a text is a token, so that random weights can be run.
#[derive(Clone, Debug)]
pub struct Tokenizer(Option<Box<tokenizers::Tokenizer>>);

impl Tokenizer {
    /// The tokenizer of `tokenizer.json`, or of `vocab.json` and `merges.txt`, in a model's directory.
    pub fn open(directory: &Path) -> Result<Tokenizer> {
        let file = |name: &str| directory.join(name);
        let (whole, vocabulary, merges) = (file("tokenizer.json"), file("vocab.json"), file("merges.txt"));
        if whole.exists() {
            let tokenizer = tokenizers::Tokenizer::from_file(&whole)
                .map_err(|e| anyhow!("cannot read {}: {e}", whole.display()))?;
            return Ok(Tokenizer(Some(Box::new(tokenizer))));
        }
        ensure!(
            vocabulary.exists() && merges.exists(),
            "{} has neither tokenizer.json nor vocab.json and merges.txt",
            directory.display()
        );
        let named = |e| anyhow!("cannot read {} and {}: {e}", vocabulary.display(), merges.display());
        let model = BPE::from_file(&vocabulary.to_string_lossy(), &merges.to_string_lossy()).build().map_err(named)?;
        let mut tokenizer = tokenizers::Tokenizer::new(model);
        let bytes = ByteLevel::default().add_prefix_space(false);
        tokenizer.with_pre_tokenizer(Some(bytes)).with_decoder(Some(bytes));
        tokenizer.add_special_tokens([AddedToken::from("<|endoftext|>", true)]).map_err(named)?;
        Ok(Tokenizer(Some(Box::new(tokenizer))))
    }

    /// The tokenizer of a model that has none: bytes.
    pub fn bytes() -> Tokenizer {
        Tokenizer(None)
    }

    /// The token ids of `text`.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match &self.0 {
            Some(pipeline) => {
                let encoding = pipeline.encode(text, false).map_err(|e| anyhow!("cannot tokenize {text:?}: {e}"))?;
                Ok(encoding.get_ids().to_vec())
            }
            None => Ok(text.bytes().map(u32::from).collect()),
        }
    }

    /// The text of `ids`. Without a tokenizer the ids as numbers, each behind a space.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        match &self.0 {
            Some(pipeline) => pipeline.decode(ids, false).map_err(|e| anyhow!("cannot decode {ids:?}: {e}")),
            None => Ok(ids.iter().map(|id| format!(" {id}")).collect()),
        }
    }
}

/// Text that grows by tokens, in pieces that are whole characters.
#[derive(Debug)]
pub struct Stream<'t> {
    tokenizer: &'t Tokenizer,
    ids: Vec<u32>,
    printed: usize,
}

impl<'t> Stream<'t> {
    /// Behind the tokens of `prompt`, which are not part of the text.
    pub fn new(tokenizer: &'t Tokenizer, prompt: &[u32]) -> Result<Stream<'t>> {
        Ok(Stream { tokenizer, ids: prompt.to_vec(), printed: tokenizer.decode(prompt)?.len() })
    }

    /// What `id` adds; empty while a character is incomplete.
    pub fn push(&mut self, id: u32) -> Result<String> {
        self.ids.push(id);
        let text = self.tokenizer.decode(&self.ids)?;
        // An incomplete character decodes to the replacement character until its last byte is there.
        if text.ends_with(char::REPLACEMENT_CHARACTER) || !text.is_char_boundary(self.printed) {
            return Ok(String::new());
        }
        let piece = text.get(self.printed..).unwrap_or_default().to_string();
        self.printed = text.len();
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kjv() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/kjv"))
    }

    #[test]
    fn reads_either_form() {
        let whole = Tokenizer::open(kjv()).unwrap();
        let ids = whole.encode("In the beginning").unwrap();
        assert_eq!(ids, [41, 78, 259, 804, 265, 78, 291]);
        assert_eq!(whole.decode(&ids).unwrap(), "In the beginning");
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(kjv().join("tokenizer.json")).unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        assert!(Tokenizer::open(dir.path()).unwrap_err().to_string().contains("neither tokenizer.json"));
        std::fs::write(dir.path().join("vocab.json"), json["model"]["vocab"].to_string()).unwrap();
        let merges: Vec<String> = json["model"]["merges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| match m.as_array() {
                Some(pair) => pair.iter().map(|p| p.as_str().unwrap()).collect::<Vec<_>>().join(" "),
                None => m.as_str().unwrap().to_string(),
            })
            .collect();
        std::fs::write(dir.path().join("merges.txt"), format!("#version: 0.2\n{}\n", merges.join("\n"))).unwrap();
        let parts = Tokenizer::open(dir.path()).unwrap();
        for text in ["And the LORD said unto Moses", "a\nb  c!<|endoftext|>", "naïve 東京"] {
            assert_eq!(parts.encode(text).unwrap(), whole.encode(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn streams_whole_characters() {
        let tokenizer = Tokenizer::open(kjv()).unwrap();
        let (prompt, rest) = (tokenizer.encode("In").unwrap(), tokenizer.encode(" the é東 end").unwrap());
        let mut stream = Stream::new(&tokenizer, &prompt).unwrap();
        let pieces: Vec<String> = rest.iter().map(|id| stream.push(*id).unwrap()).collect();
        assert!(pieces.iter().any(String::is_empty), "{pieces:?}");
        assert_eq!(pieces.concat(), " the é東 end");
        assert_eq!(Tokenizer::bytes().decode(&Tokenizer::bytes().encode("AB").unwrap()).unwrap(), " 65 66");
    }
}
