import { diff } from 'node:util'

/** Lines around a change. */
const CONTEXT = 3

interface Line {
  /** -1 removed, 0 in both, 1 added. */
  readonly operation: number
  readonly text: string
}

/** A unified diff of two texts, without the lines of the file names. Empty if they are equal. */
export function unifiedDiff(before: string, after: string): string[] {
  const lines = linesOf(diffLines(splitLines(before), splitLines(after)))
  const output: string[] = []
  let old = 1
  let now = 1
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]
    if (line?.operation === 0) {
      old += 1
      now += 1
      at += 1
      continue
    }
    const start = Math.max(0, at - CONTEXT)
    const end = endOfHunk(lines, at)
    const hunk = lines.slice(start, end)
    const removed = hunk.filter(({ operation }) => operation <= 0).length
    const added = hunk.filter(({ operation }) => operation >= 0).length
    const lead = at - start
    output.push(`@@ -${old - lead},${removed} +${now - lead},${added} @@`)
    for (const { operation, text } of hunk)
      output.push(`${operation < 0 ? '-' : operation > 0 ? '+' : ' '}${text}`)
    old += removed - lead
    now += added - lead
    at = end
  }
  return output
}

/** Changes with few equal lines between them are one hunk. */
function endOfHunk(lines: readonly Line[], from: number): number {
  let last = from
  for (let at = from; at < lines.length && at - last <= 2 * CONTEXT; at += 1) {
    if (lines[at]?.operation !== 0) last = at
  }
  return Math.min(lines.length, last + 1 + CONTEXT)
}

/** Removed lines before the added ones that replace them. */
function linesOf(found: readonly [number, string][]): Line[] {
  const lines: Line[] = []
  const added: Line[] = []
  for (const [operation, text] of found) {
    if (operation > 0) added.push({ operation, text })
    else {
      if (operation === 0) lines.push(...added.splice(0))
      lines.push({ operation, text })
    }
  }
  return [...lines, ...added]
}

/** Equal lines at both ends are left out of the comparison, whose cost is quadratic in the worst case. */
function diffLines(before: readonly string[], after: readonly string[]): [number, string][] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const equal = (text: string): [number, string] => [0, text]
  // `util.diff` calls the lines of its first argument inserted.
  const changed = diff(after.slice(head, after.length - tail), before.slice(head, before.length - tail)) as [
    number,
    string,
  ][]
  return [...before.slice(0, head).map(equal), ...changed, ...before.slice(before.length - tail).map(equal)]
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
