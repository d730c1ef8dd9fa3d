const SHAPE = /^@(\d{4}-\d\d-\d\d)(?:T(\d\d)[:.](\d\d)(?:[:.](\d\d))?)?(Z|[+-]\d\d[:.]?\d\d)?$/

/** Whether the name of a folder in the root stands for a point in time. */
export function looksLikeSnapshot(name: string): boolean {
  return SHAPE.test(name)
}

/**
 * The Unix time of a name such as `@2026-11-01T12:00`, in UTC unless it says otherwise. Colons may be written as dots, because
 * Windows has no colons in names. Undefined for any other name, and for a time that does not exist.
 */
export function parseSnapshotName(name: string): number | undefined {
  const [, day, hours = '00', minutes = '00', seconds = '00', zone = 'Z'] = SHAPE.exec(name) ?? []
  if (day === undefined) return undefined
  // Date.parse accepts February 30 as March 2.
  if (!new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day)) return undefined
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  const ms = Date.parse(`${day}T${hours}:${minutes}:${seconds}${offset}`)
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}
