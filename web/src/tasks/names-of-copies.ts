import type { Entry } from '../api/index.ts'
import { withoutNumber } from './name-after-move.ts'

/**
 * The names that copies got: new ones with the content of the original, and with its name or that with a number. Undefined if one
 * cannot be found, because it was changed, renamed or deleted since.
 */
export function namesOfCopies(
  originals: readonly Entry[],
  now: readonly Entry[],
  before: ReadonlySet<string>,
): string[] | undefined {
  const names = originals.flatMap((original) => {
    const copy = now.find(
      ({ name, type, id }) =>
        !before.has(name) &&
        type === original.type &&
        id === original.id &&
        (name === original.name || withoutNumber(name) === original.name),
    )
    return copy?.name ?? []
  })
  return names.length === originals.length ? names : undefined
}
