import type { DiffLine } from './diff.ts'

const CONTEXT_LINES = 3

/** Consecutive lines of a diff that are shown or folded together. */
export interface DiffRun {
  readonly lines: readonly DiffLine[]
  readonly isHidden: boolean
}

/** Splits a diff into differences with three lines of context, which are shown, and the lines between, which are folded. */
export function foldUnchanged(lines: readonly DiffLine[]): DiffRun[] {
  const isNear = new Uint8Array(lines.length)
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== 'same') isNear.fill(1, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1)
  }
  const runs: { lines: DiffLine[]; isHidden: boolean }[] = []
  for (const [index, line] of lines.entries()) {
    const isHidden = isNear[index] === 0
    const last = runs.at(-1)
    if (last?.isHidden === isHidden) last.lines.push(line)
    else runs.push({ lines: [line], isHidden })
  }
  return runs
}
