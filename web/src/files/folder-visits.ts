import { join } from '../paths.ts'

/** How a folder was left, for when somebody comes back to it. */
interface Visit {
  readonly scrollTop: number
  readonly active: string | undefined
  /** Whether the active entry is to be brought into sight, wherever the list was left. */
  readonly reveal?: boolean
}

const MOST_KEPT = 200
const visits = new Map<string, Visit>()
let takesFocus: string | undefined

const keyOf = (libraryId: string, path: string) => `${libraryId} ${path}`

export function leave(libraryId: string, path: string, visit: Visit): void {
  const key = keyOf(libraryId, path)
  visits.delete(key)
  visits.set(key, visit)
  const [oldest] = visits.keys()
  if (visits.size > MOST_KEPT && oldest !== undefined) visits.delete(oldest)
}

export function lastVisit(libraryId: string, path: string): Visit | undefined {
  return visits.get(keyOf(libraryId, path))
}

/** Before going to a folder out of its list or path: its list gets the keyboard. */
export function goingTo(libraryId: string, path: string): void {
  takesFocus = keyOf(libraryId, path)
}

/** Before going up to a folder: the one below it that `from` was in, or is, will be where the keyboard is. */
export function comeFrom(libraryId: string, path: string, from: string): void {
  goingTo(libraryId, path)
  const [child = ''] = from.slice(join(path, '').length).split('/', 1)
  const before = lastVisit(libraryId, path)
  leave(libraryId, path, { scrollTop: before?.scrollTop ?? 0, active: child, reveal: true })
}

/** Whether the list of a folder is to take the keyboard as it appears; asked once. */
export function takeFocus(libraryId: string, path: string): boolean {
  const wanted = takesFocus === keyOf(libraryId, path)
  if (wanted) takesFocus = undefined
  return wanted
}
