import type { Entry } from '../api/index.ts'

/** How many entries get their new names. The extension of a file stays. */
export type RenameRule =
  | { readonly kind: 'replace'; readonly find: string; readonly replacement: string }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly start: number; readonly digits: number }

/** The placeholders of a pattern. */
export const PLACEHOLDERS = ['name', 'number', 'date'] as const

export type Placeholder = (typeof PLACEHOLDERS)[number]

/** Why a name cannot be given. */
type NameProblem = 'taken' | 'twice' | 'invalid'

export interface PlannedName {
  readonly entry: Entry
  readonly newName: string
  readonly problem: NameProblem | undefined
}

const MAX_NAME_BYTES = 255
const encoder = new TextEncoder()

/** The new names of entries in their order, with what is wrong with them. `others` are the names of the folder that stay. */
export function planNames(
  entries: readonly Entry[],
  others: ReadonlySet<string>,
  rule: RenameRule,
): PlannedName[] {
  const named = entries.map((entry, index) => ({ entry, newName: newNameOf(entry, index, rule) }))
  const counts = new Map<string, number>()
  for (const { newName } of named) counts.set(newName, (counts.get(newName) ?? 0) + 1)
  return named.map(({ entry, newName }) => {
    const isTwice = (counts.get(newName) ?? 0) > 1
    const problem = !isAllowed(newName)
      ? 'invalid'
      : isTwice
        ? 'twice'
        : others.has(newName)
          ? 'taken'
          : undefined
    return { entry, newName, problem }
  })
}

function newNameOf(entry: Entry, index: number, rule: RenameRule): string {
  const end = entry.type === 'file' ? entry.name.lastIndexOf('.') : -1
  const stem = end > 0 ? entry.name.slice(0, end) : entry.name
  const extension = end > 0 ? entry.name.slice(end) : ''
  if (rule.kind === 'replace') {
    const replaced = rule.find === '' ? stem : stem.replaceAll(rule.find, () => rule.replacement)
    return `${replaced}${extension}`.trim().normalize('NFC')
  }
  const values: Record<Placeholder, string> = {
    name: stem,
    number: String(rule.start + index).padStart(rule.digits, '0'),
    date: localDate(entry.mtime),
  }
  const filled = rule.pattern.replace(/\{(name|number|date)\}/g, (_, key: Placeholder) => values[key])
  return `${filled}${extension}`.trim().normalize('NFC')
}

/** As the server decides it. */
function isAllowed(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || !name.isWellFormed()) return false
  // oxlint-disable-next-line no-control-regex
  return !/[/\\\u0000-\u001f\u007f-\u009f]/.test(name) && encoder.encode(name).length <= MAX_NAME_BYTES
}

/** `2026-11-19`. */
function localDate(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
