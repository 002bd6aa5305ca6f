//! The build log: what was done, as commands people can repeat.

use crate::named::named;
use std::fmt;

named! {
    /// A step's heading in the log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum LogStage {
        /// The op list.
        Input = "SPK_INPUT",
        /// Archives taken apart.
        Unpack = "UNPACK",
        /// Copies made of sub-kernels and of the super kernel.
        SplitSubObjects = "SPLIT_SUB_OBJS",
        /// Sources compiled.
        Compile = "COMPILE",
        /// Objects linked.
        Fatbin = "FATBIN",
        /// Symbols made local.
        LinkRelocate = "LINKRELOCATE",
    }
}

/// The entries of one build, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct BuildLog(Vec<(LogStage, String)>);

impl BuildLog {
    /// Adds a command or message; it becomes one line.
    pub(crate) fn add(&mut self, stage: LogStage, message: impl fmt::Display) {
        let line = message.to_string().replace('\r', "").replace('\n', " ");
        self.0.push((stage, line));
    }
}

impl BuildLog {
    /// A script that repeats the commands. What was done in memory is a comment: its results are kept.
    pub(crate) fn to_script(&self, kernel: &str) -> String {
        let mut script = format!(
            "#!/bin/sh\n# Repeats the tools' part of the build of {kernel}. Lines after `#=` were done in memory; these\n\
             # commands would do the same, and what came out is kept.\nset -e\n"
        );
        for (stage, line) in &self.0 {
            match stage {
                LogStage::Input => {}
                LogStage::Compile | LogStage::Fatbin => script.extend([line, "\n"]),
                LogStage::Unpack | LogStage::SplitSubObjects | LogStage::LinkRelocate => {
                    script.extend(["#= ", line, "\n"]);
                }
            }
        }
        script
    }
}

impl fmt::Display for BuildLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stage, line) in &self.0 {
            write!(formatter, "// Stage: CompileStage.{}\n{line}\n\n", stage.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_heading_a_line_and_an_empty_line() {
        let mut log = BuildLog::default();
        log.add(LogStage::Input, "{}");
        log.add(LogStage::Compile, "c++ -c\nx.cpp");
        let expected = "// Stage: CompileStage.SPK_INPUT\n{}\n\n// Stage: CompileStage.COMPILE\nc++ -c x.cpp\n\n";
        assert_eq!(log.to_string(), expected);
        log.add(LogStage::Unpack, "cp a b");
        let script = log.to_script("k");
        assert!(script.starts_with("#!/bin/sh\n") && script.ends_with("set -e\nc++ -c x.cpp\n#= cp a b\n"), "{script}");
    }
}
