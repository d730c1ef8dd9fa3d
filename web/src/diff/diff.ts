/** A line of a diff, with its line number in each text that contains it. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  readonly before: number | undefined
  readonly after: number | undefined
}

/** With more differences than this, everything is shown as replaced. */
const MAX_DIFFERENCES = 2000

/** Line diff from `before` to `after`: Myers' shortest edit script. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end += 1
  }
  const steps: DiffLine['kind'][] = [
    ...repeated('same' as const, start),
    ...script(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...repeated('same' as const, end),
  ]
  let [a, b] = [0, 0]
  return steps.map((kind) => {
    const text = (kind === 'added' ? now[b] : old[a]) ?? ''
    const beforeNumber = kind === 'added' ? undefined : (a += 1)
    const afterNumber = kind === 'removed' ? undefined : (b += 1)
    return { kind, text, before: beforeNumber, after: afterNumber }
  })
}

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function repeated<T>(value: T, times: number): T[] {
  return Array.from({ length: times }, () => value)
}

function script(old: readonly string[], now: readonly string[]): DiffLine['kind'][] {
  const trace = reach(old, now)
  if (trace === undefined) {
    return [...repeated('removed' as const, old.length), ...repeated('added' as const, now.length)]
  }
  const steps: DiffLine['kind'][] = []
  let [x, y] = [old.length, now.length]
  for (let d = trace.length; d >= 0; d -= 1) {
    const from = d === 0 ? undefined : fromWhere(trace[d - 1], d, x - y)
    const [startX, startY] = from === undefined ? [0, 0] : [from.x, from.x - from.k]
    while (x > startX && y > startY) {
      steps.push('same')
      x -= 1
      y -= 1
    }
    if (from === undefined) break
    steps.push(from.isDown ? 'added' : 'removed')
    x = startX
    y = startY
  }
  return steps.toReversed()
}

/** The furthest reaching points of each diagonal for each number of differences but the last; undefined if there are too many. */
function reach(old: readonly string[], now: readonly string[]): Int32Array[] | undefined {
  const most = Math.min(MAX_DIFFERENCES, old.length + now.length)
  const trace: Int32Array[] = []
  for (let d = 0; d <= most; d += 1) {
    const furthest = new Int32Array(2 * d + 1)
    for (let k = -d; k <= d; k += 2) {
      const from = d === 0 ? { x: 0, isDown: true } : fromWhere(trace[d - 1], d, k)
      let x = from.isDown ? from.x : from.x + 1
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1
      furthest[k + d] = x
      if (x >= old.length && x - k >= now.length) return trace
    }
    trace.push(furthest)
  }
  return undefined
}

/** The neighbor diagonal of `k` that reaches furthest with `d` differences, given the points for `d - 1`. */
function fromWhere(before: Int32Array | undefined, d: number, k: number) {
  const reached = (diagonal: number) => before?.[diagonal + d - 1] ?? 0
  const isDown = k === -d || (k !== d && reached(k - 1) < reached(k + 1))
  const from = isDown ? k + 1 : k - 1
  return { isDown, k: from, x: reached(from) }
}
