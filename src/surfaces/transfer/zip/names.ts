import { freeName } from '../../../base/paths/index.ts'

/**
 * A name that is safe on every platform. Synced trees may contain backslashes and
 * control characters; some tools take `\` for a separator and `C:` for a drive.
 */
export function harmlessName(name: string): string {
  if (name === '' || name === '.' || name === '..') return '_'.repeat(Math.max(name.length, 1))
  return name.toWellFormed().replace(unsafe, '_').replace(drive, '$1_')
}

// Deleting characters would be worse: the rest might spell `..`.
const unsafe = /[/\\\u0000-\u001f\u007f-\u009f]/g
const drive = /^([A-Za-z]):/

/** Makes names unique: duplicates get ` (n)`. */
export class FreeNames {
  readonly #taken = new Set<string>()
  /** The next number per name, so that many duplicates stay linear. */
  readonly #next = new Map<string, number>()

  take(wanted: string): string {
    let tries = 0
    const from = this.#next.get(wanted) ?? 1
    const isTaken = (name: string) => {
      tries++
      return this.#taken.has(name)
    }
    const name = freeName(wanted, isTaken, from)
    // The first attempt has no number.
    if (name !== wanted) this.#next.set(wanted, from + tries - 1)
    this.#taken.add(name)
    return name
  }
}

/** Safe, unique names for the entries of one folder. Safe names stay unchanged. */
export function harmlessNames(names: readonly string[]): readonly string[] {
  const harmless = names.map(harmlessName)
  if (harmless.every((name, index) => name === names[index])) return names
  const free = new FreeNames()
  for (const [index, name] of names.entries()) if (harmless[index] === name) free.take(name)
  return harmless.map((name, index) => (name === names[index] ? name : free.take(name)))
}
