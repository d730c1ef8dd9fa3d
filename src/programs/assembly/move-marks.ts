import { StartError } from '../../base/errors.ts'
import { deleteAgreed, findAgreed, replaceAgreed } from '../../platform/cluster/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** In the database that is moved: the id of the move, how far it is, and the name of the other database. */
const MOVED_TO = 'moved to'
/** In a database that is being filled: the id of the move, and the rows of the table that were copied. */
const COPY_OF = 'copy of'
/** In a database that was filled: the id of the move. */
const MOVED_FROM = 'moved from'

/** The schema version from which on a database has a place for marks. */
const FIRST_VERSION = 34

/** What a database knows about moves from and to it. */
export interface MoveMarks {
  readonly movedTo?: { readonly id: string; readonly isDone: boolean; readonly name: string }
  /** Without a table, nothing was copied yet. */
  readonly copyOf?: { readonly id: string; readonly table: string; readonly rows: number }
  readonly movedFrom?: string
}

export async function readMarks(reader: Reader, schemaVersion = FIRST_VERSION): Promise<MoveMarks> {
  if (schemaVersion < FIRST_VERSION) return {}
  const [to, copy, movedFrom] = await Promise.all([
    findAgreed(reader, MOVED_TO),
    findAgreed(reader, COPY_OF),
    findAgreed(reader, MOVED_FROM),
  ])
  const [id = '', state, ...name] = to?.split(' ') ?? []
  const [copyId = '', rows, table = ''] = copy?.split(' ') ?? []
  return {
    ...(to !== undefined && { movedTo: { id, isDone: state === 'done', name: name.join(' ') } }),
    ...(copy !== undefined && { copyOf: { id: copyId, table, rows: Number(rows) } }),
    ...(movedFrom !== undefined && { movedFrom }),
  }
}

/** Throws StartError if the data of a server is in another database now, or is still being copied. */
export async function refuseMoved(reader: Reader, schemaVersion?: number): Promise<void> {
  const { movedTo, copyOf } = await readMarks(reader, schemaVersion)
  if (copyOf !== undefined) {
    throw new StartError(
      'This database is an unfinished copy of another one: run the same carrel migrate again, which finishes it.',
    )
  }
  if (movedTo === undefined) return
  throw new StartError(
    movedTo.isDone
      ? `The data was moved to the database ${movedTo.name}: set CARREL_DATABASE to it, or run carrel migrate --cancel to use this one again, as it was before the move.`
      : `The data is being moved to the database ${movedTo.name}: run the same carrel migrate again, which finishes it, or carrel migrate --cancel to use this one.`,
  )
}

export function markMoving(tx: Transaction, id: string, name: string): Promise<void> {
  return replaceAgreed(tx, MOVED_TO, `${id} copying ${name}`)
}

export function markMoved(tx: Transaction, id: string, name: string): Promise<void> {
  return replaceAgreed(tx, MOVED_TO, `${id} done ${name}`)
}

/** The database may be used again. */
export function unmarkMoved(tx: Transaction): Promise<void> {
  return deleteAgreed(tx, MOVED_TO)
}

/** The database is being filled. Without a table, the next run begins again. */
export async function markCopy(tx: Transaction, id: string, table = '', rows = 0): Promise<void> {
  await replaceAgreed(tx, COPY_OF, `${id} ${rows} ${table}`)
}

/** The database was filled and compared. */
export async function markFilled(tx: Transaction, id: string): Promise<void> {
  await deleteAgreed(tx, COPY_OF)
  await replaceAgreed(tx, MOVED_FROM, id)
}
