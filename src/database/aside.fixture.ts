import { writeFileSync } from 'node:fs'
import { serveAside } from './aside-process.ts'

interface Wish {
  readonly after?: number
  readonly least?: Uint8Array
  readonly fail?: string
  readonly end?: number
  /** Goes on without end, and says here that it runs. */
  readonly forever?: string
}

// A job for the contract of databases.
serveAside(async (reader, { after = 0, least, fail, end, forever }: Wish) => {
  if (fail !== undefined) throw new Error(fail)
  if (end !== undefined) process.exit(end)
  if (forever !== undefined) {
    writeFileSync(forever, String(process.pid))
    await new Promise(() => {})
  }
  const rows = await reader.all<{ id: number }>('select id from item where id > ? order by id', after)
  return { ids: rows.map(({ id }) => id), least, pid: process.pid }
})
