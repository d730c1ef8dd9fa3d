import type { Entry } from '../api/index.ts'

/** A name without the number that the server adds if it is taken. */
export const withoutNumber = (name: string) => name.replace(/ \(\d+\)(?=\.[^.]*$|$)/, '')

/**
 * The name an entry has in the folder it was moved to: its own, or that with a number if its own was taken. Another
 * entry may have the name, so id and modification time have to match too.
 */
export function nameAfterMove(moved: Entry, entries: readonly Entry[]): string | undefined {
  const same = entries.filter(
    ({ type, id, mtime }) => type === moved.type && id === moved.id && mtime === moved.mtime,
  )
  const numbered = same.filter(({ name }) => withoutNumber(name) === moved.name)
  return same.find(({ name }) => name === moved.name)?.name ?? numbered.at(-1)?.name
}
