//! Reasons as lines of text. A reason that lacks the figures of its rule still has a line, made from the known parts.

use std::fmt;

use super::{Bound, Cause, Decider, Reason};

impl fmt::Display for Decider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Last => "last replicas",
            Self::FewestLast => "fewest last replicas",
            Self::MostLast => "most last replicas",
            Self::PolicyOrder => "order in the policy",
            other => other.word(),
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.said(), self.text.as_str()) {
            // These rules make the plugin's words part of their own.
            (Some(said), _) if matches!(self.cause, Cause::Count | Cause::GroupNotChosen) => formatter.write_str(&said),
            (Some(said), "") => formatter.write_str(&said),
            (Some(said), text) => write!(formatter, "{said}; {text}"),
            (None, _) => formatter.write_str(&self.plain()),
        }
    }
}

impl Reason {
    /// The line of a reason that has the figures of its rule.
    fn said(&self) -> Option<String> {
        let value = |name| self.value(name);
        Some(match self.cause {
            Cause::Other => return None,
            Cause::FullCount => format!("every candidate gets the full count of {}", value("replicas")?),
            Cause::Proportion | Cause::HighestAverages | Cause::Packed => match value("clusters") {
                Some(clusters) => self.over_clusters(clusters)?,
                None => self.in_proportion()?,
            },
            Cause::Even => match (value("capacity")?, value("each")) {
                (capacity, _) if self.bound == Some(Bound::Capacity) => format!("capacity {capacity}, full"),
                (capacity, each) => format!("capacity {capacity}: {} each{}", each?, self.served()),
            },
            Cause::Count => {
                let (last, change) = (value("last")?, value("change")?);
                let (count, members) = (value("count")?, value("members")?);
                let rule = &self.text;
                let head = format!("{rule} gives {count} over {members} clusters; last {last}, change {change:+}");
                match self.remainder {
                    _ if change < 0 && last.saturating_add(change) == 0 => format!("{head}, emptied"),
                    Some((true, decider)) => format!("{head}, with one of the remainder ({decider})"),
                    Some((false, decider)) => format!("{head}, none of the remainder ({decider})"),
                    None => head,
                }
            }
            Cause::NotNeeded => {
                let (clusters, candidates) = (value("clusters")?, value("candidates")?);
                let known = self.known_of_room()?;
                format!("{known}: not needed, {clusters} of {candidates} clusters are enough")
            }
            Cause::BeyondMaximum => format!("others come first, at most {} may be chosen", value("maximum")?),
            Cause::GroupNotChosen if !self.text.is_empty() => format!("{} is not chosen", self.text),
            _ => return None,
        })
    }

    /// `weight 2 of 5: 2.8 → 2, +1 of the remainder (weight)`.
    fn in_proportion(&self) -> Option<String> {
        let kept = self
            .value("keeps")
            .map_or_else(String::new, |kept| format!("keeps {kept}; "));
        let (noun, weight) = self.figures().find(|(name, _)| *name != "keeps")?;
        let (sum, replicas, share) = (self.value("sum")?, self.value("replicas")?, self.value("share")?);
        let product = i128::from(replicas).checked_mul(i128::from(weight))?.checked_mul(10)?;
        let tenths = product.checked_div(i128::from(sum))?;
        let (floor, tenth) = (tenths / 10, tenths % 10);
        let head = format!("{kept}{} {weight} of {sum}: {floor}.{tenth}", noun_of(noun));
        Some(match (self.cause, self.remainder) {
            (Cause::HighestAverages, _) => format!("{head} → {share} by highest averages"),
            (_, Some(_)) => format!("{head} → {floor}{}", self.served()),
            _ => format!("{head} → {share}"),
        })
    }

    /// `keeps 2, fits 5: +3 in proportion over 2 clusters`.
    fn over_clusters(&self, clusters: i64) -> Option<String> {
        let known = self.known_of_room()?;
        let share = match self.value("keeps") {
            Some(_) => format!("{:+}", self.value("change")?),
            None => self.value("share")?.to_string(),
        };
        let manner = match self.cause {
            Cause::Packed => "each filled before the next",
            Cause::HighestAverages => "in proportion, by highest averages",
            _ => "in proportion",
        };
        Some(format!("{known}: {share} {manner} over {clusters} clusters"))
    }

    /// The figures of a rule over few clusters: the last replicas, what fits, or the capacity.
    fn known_of_room(&self) -> Option<String> {
        match (self.value("keeps"), self.value("fitsNow")) {
            (Some(kept), Some(fits)) => Some(format!("keeps {kept}, fits {fits}")),
            _ => {
                let (name, value) = self.figures().next()?;
                Some(format!("{} {value}", noun_of(name)))
            }
        }
    }

    fn served(&self) -> String {
        match self.remainder {
            None => String::new(),
            Some((true, decider)) => format!(", +1 of the remainder ({decider})"),
            Some((false, decider)) => format!(", none of the remainder ({decider})"),
        }
    }

    /// The line of a reason without the figures of its rule: the plugin's words, or the known parts.
    fn plain(&self) -> String {
        if !self.text.is_empty() {
            return self.text.clone();
        }
        let word = match (self.cause, self.bound) {
            (Cause::Proportion, Some(Bound::Tier)) => "in proportion within its tier",
            (Cause::Proportion, _) => "in proportion",
            (Cause::Unchanged, _) => "nothing changes",
            (Cause::NotNeeded, _) => "not needed",
            (Cause::NoShare, _) => "no rule gives it a share",
            (Cause::Listed, _) => "the last result lists it",
            (Cause::FullCount, _) => "every candidate gets the full count",
            (Cause::HighestAverages, _) => "in proportion, by highest averages",
            (Cause::Even, _) => "as even as possible",
            (Cause::Packed, _) => "each filled before the next",
            (Cause::BeyondMaximum, _) => "others come first",
            (Cause::GroupNotChosen, _) => "its group is not chosen",
            (Cause::Count, _) => "as the policy says",
            (Cause::Other | Cause::Filled | Cause::Drained, _) => self.cause.word(),
        };
        let figures: Vec<String> = self
            .figures()
            .map(|(name, value)| format!("{} {value}", noun_of(name)))
            .collect();
        let figures = match figures.as_slice() {
            [] => String::new(),
            figures => format!(" ({})", figures.join(", ")),
        };
        format!("{word}{figures}{}", self.served())
    }
}

/// The word of a figure in texts.
fn noun_of(name: &str) -> &str {
    match name {
        "fitsNow" => "fits",
        name => name,
    }
}
