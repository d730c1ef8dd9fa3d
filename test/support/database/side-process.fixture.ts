import { writeFileSync } from 'node:fs'
import { serveSideProcess } from '../../../src/platform/database/side-process-entry.ts'

interface Input {
  readonly after?: number
  readonly least?: Uint8Array
  readonly fail?: string
  readonly end?: number
  /** Never ends, and writes its process id to this file. */
  readonly forever?: string
}

// The job of the database contract.
serveSideProcess(async (reader, { after = 0, least, fail, end, forever }: Input) => {
  if (fail !== undefined) throw new Error(fail)
  if (end !== undefined) process.exit(end)
  if (forever !== undefined) {
    writeFileSync(forever, String(process.pid))
    await new Promise(() => {})
  }
  const rows = await reader.all<{ id: number }>('select id from item where id > ? order by id', after)
  return { ids: rows.map(({ id }) => id), least, pid: process.pid }
})
