//! The name that someone may have meant.

/// `; did you mean 'NAME'?` with the one of `names` that is nearest to a mistyped one; empty where none is near.
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    names
        .into_iter()
        .map(|other| (distance(other), other))
        .min()
        .filter(|(distance, _)| *distance <= 1 + name.len() / 3 && *distance < name.len())
        .map_or_else(String::new, |(_, other)| format!("; did you mean '{other}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_meant() {
        assert_eq!(did_you_mean("sofmax", ["gelu", "softmax"]), "; did you mean 'softmax'?");
        assert_eq!(did_you_mean("convolution", ["gelu", "softmax"]), "");
        assert_eq!(did_you_mean("x", []), "");
        assert_eq!(did_you_mean("h", ["f", "g"]), "");
    }
}
