//! Which launch took how long: what ran is matched with the launches in the host's code.

use crate::{kernels::Launch, page::Run};

/// The median time of each launch over the calls (the lower one of two), in microseconds: the first call is a slow one.
///
/// Where what ran is the entry's launches in their order, as often as it was called, each launch has its own times. Where it is
/// not (a launch in a loop or behind a branch), those of a kernel that is always launched alike are known, and no others.
pub fn times(launches: &[Launch], run: &Run) -> Vec<Option<f64>> {
    let mine: Vec<usize> = (0..launches.len()).filter(|i| launches[*i].function == run.entry).collect();
    let in_order = !mine.is_empty()
        && run.kernels.len().is_multiple_of(mine.len())
        && run.kernels.iter().enumerate().all(|(i, (kernel, _))| *kernel == launches[mine[i % mine.len()]].kernel);
    let mut out = vec![None; launches.len()];
    if in_order {
        for (place, launch) in mine.iter().enumerate() {
            out[*launch] = median(run.kernels.iter().skip(place).step_by(mine.len()).map(|(_, time)| *time));
        }
        return out;
    }
    for (i, launch) in launches.iter().enumerate() {
        let alike = |l: &&Launch| (l.grid, l.block, &l.shapes) == (launch.grid, launch.block, &launch.shapes);
        let same = || launches.iter().filter(|l| l.kernel == launch.kernel);
        if same().all(|l| alike(&l)) {
            let ran = run.kernels.iter().filter(|(kernel, _)| *kernel == launch.kernel);
            out[i] = median(ran.map(|(_, time)| *time));
        }
    }
    out
}

fn median(times: impl Iterator<Item = f64>) -> Option<f64> {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kernel: &str, columns: i64) -> Launch {
        Launch {
            kernel: kernel.into(),
            source: 0,
            function: "main".into(),
            grid: [Some(columns), Some(1), Some(1)],
            block: [Some(32), Some(1), Some(1)],
            shapes: String::new(),
            shared: None,
        }
    }
    fn run(kernels: &[(&str, f64)]) -> Run {
        let kernels = kernels.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        Run { entry: "main".into(), kernels, ..Run::default() }
    }

    #[test]
    fn launches_of_one_kernel_have_times_of_their_own() {
        let launches = [launch("matmul", 8), launch("add", 1), launch("matmul", 64)];
        let call = [("matmul", 2.0), ("add", 1.0), ("matmul", 9.0)];
        let slow = [("matmul", 50.0), ("add", 1.0), ("matmul", 60.0)];
        let three: Vec<_> = slow.iter().chain(&call).chain(&call).copied().collect();
        assert_eq!(times(&launches, &run(&three)), [Some(2.0), Some(1.0), Some(9.0)]);
    }

    #[test]
    fn what_cannot_be_told_apart_has_no_time() {
        let launches = [launch("matmul", 8), launch("add", 1), launch("matmul", 64)];
        // The add is in a loop.
        let ran = run(&[("matmul", 2.0), ("add", 1.0), ("add", 3.0), ("add", 2.0), ("matmul", 9.0)]);
        assert_eq!(times(&launches, &ran), [None, Some(2.0), None]);
        assert_eq!(times(&launches, &run(&[])), [None, None, None]);
    }
}
