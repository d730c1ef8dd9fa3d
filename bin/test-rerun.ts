/** More failed files than these are no coincidence, so nothing runs again (record 0066). */
const MAX_RERUNS = 3

/** Runs what failed once more, one after another, if it is little. Returns the failures that pass then. */
export async function rerunFailures<Failure>(
  failures: readonly Failure[],
  fileCountOf: (failure: Failure) => number,
  passesAlone: (failure: Failure) => Promise<boolean>,
): Promise<Failure[]> {
  const count = failures.reduce((sum, failure) => sum + fileCountOf(failure), 0)
  if (count > MAX_RERUNS) return []
  const passed: Failure[] = []
  for (const failure of failures) if (await passesAlone(failure)) passed.push(failure)
  return passed
}
