import type { Reader, Transaction } from '../../platform/database/index.ts'

/** The result of an upload, for a client that polls for it. */
export interface IndexedUpload {
  /** Hash of the ticket it was uploaded by. */
  readonly ticketHash: Uint8Array
  /** Bytes. */
  readonly total: number
  /** The response the client would have received. */
  readonly result: string
  /** Unix seconds. */
  readonly expiresAt: number
}

export async function insertIndexedUpload(tx: Transaction, id: string, upload: IndexedUpload): Promise<void> {
  const { ticketHash, total, result, expiresAt } = upload
  const columns = ['id', 'ticket_hash', 'total', 'result', 'expires_at']
  await tx.insert('indexed_upload', columns, [[id, ticketHash, total, result, expiresAt]])
}

export async function findIndexedUpload(reader: Reader, id: string): Promise<IndexedUpload | undefined> {
  const row = await reader.get<{
    ticket_hash: Uint8Array
    total: number
    result: string
    expires_at: number
  }>('select ticket_hash, total, result, expires_at from indexed_upload where id = ?', id)
  return (
    row && { ticketHash: row.ticket_hash, total: row.total, result: row.result, expiresAt: row.expires_at }
  )
}

export function deleteIndexedUploadsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from indexed_upload where expires_at <= ?', time)
}
