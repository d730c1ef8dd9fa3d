import { readFileSync } from 'node:fs'

// The launcher (bin/hand-over.cjs) names the processes that this server shall not outlive, nearest first: itself if it remains as the parent, or
// the shell and npm. Signals do not always arrive through them: npm passes them to its shell, which ends without passing them on.

/** As often as the launcher looks while packages are installed. */
const WATCH_MS = 500

/** Calls `onEnded` once one of the ancestors has ended. Returns whether there are any. */
export function watchAncestors(onEnded: () => void): boolean {
  const ancestors = ancestorsOf(process.env['_CARREL_ANCESTORS'])
  // Processes that this one starts have other ancestors.
  delete process.env['_CARREL_ANCESTORS']
  if (ancestors.length === 0) return false
  const timer = setInterval(() => {
    if (areThere(ancestors)) return
    clearInterval(timer)
    onEnded()
  }, WATCH_MS)
  timer.unref()
  return true
}

function ancestorsOf(text = ''): number[] {
  return text.split(' ').filter(Boolean).map(Number)
}

function areThere([parent, above]: readonly number[]): boolean {
  if (process.ppid !== parent) return false
  return above === undefined || parentOf(parent) === above
}

/** Undefined if it has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
