import type { LibraryId } from '../../base/objects/index.ts'
import { accountRows } from '../../people/accounts/index.ts'
import type { Reader, Value } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows, librarySizes } from '../registry/index.ts'

/** A library in the list of all libraries. Its owner may have been removed. */
export interface ListedLibrary {
  readonly key: number
  readonly id: LibraryId
  readonly name: string
  /** As stored. */
  readonly ownerEmail: string
  readonly size: number
  readonly fileCount: number
  readonly encrypted: boolean
  readonly status: LibraryInfo['status']
  /** Unix seconds. */
  readonly updatedAt: number
  readonly deletedAt: number | null
}

const orders = { updated: 'updated_at', size: 'size', files: 'file_count', deleted: 'deleted_at' }

export interface LibraryQuery {
  readonly deleted: boolean
  readonly orderBy: keyof typeof orders
  /** Part of the name, ignoring case. */
  readonly name?: string | undefined
  /** The whole id, or part of the name. */
  readonly text?: string | undefined
  readonly ownerKey?: number | undefined
  readonly id?: LibraryId | undefined
  readonly offset: number
  readonly limit: number
}

/** Libraries of all owners, largest first. */
export async function listAllLibraries(reader: Reader, query: LibraryQuery): Promise<ListedLibrary[]> {
  const conditions = [query.deleted ? 'deleted_at > 0' : 'deleted_at is null']
  const values: Value[] = []
  if (query.name !== undefined) {
    conditions.push("lower(library.name) like ? escape '\\'")
    values.push(containing(query.name))
  }
  if (query.text !== undefined) {
    conditions.push("(lower(library.name) like ? escape '\\' or library.id = ?)")
    values.push(containing(query.text), query.text)
  }
  if (query.ownerKey !== undefined) {
    conditions.push('owner_key = ?')
    values.push(query.ownerKey)
  }
  if (query.id !== undefined) {
    conditions.push('library.id = ?')
    values.push(query.id)
  }
  const rows = await reader.all<{
    key: number
    id: string
    name: string
    email: string
    size: number
    file_count: number
    enc_version: number
    status: number
    updated_at: number
    deleted_at: number | null
  }>(
    `select library.key, library.id, library.name, account.email, size, file_count, enc_version, status,
       updated_at, deleted_at
     from ${libraryRows.wholeRelation} library join ${accountRows.briefRelation} account on account.key = library.owner_key where ${conditions.join(' and ')}
     order by ${orders[query.orderBy]} desc, library.key desc limit ? offset ?`,
    ...values,
    query.limit,
    query.offset,
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    name: row.name,
    ownerEmail: row.email,
    size: row.size,
    fileCount: row.file_count,
    encrypted: row.enc_version !== 0,
    status: row.status === 0 ? 'normal' : 'read-only',
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  }))
}

export interface LibraryTotals {
  readonly libraries: number
  readonly files: number
  /** Bytes of all current files. */
  readonly size: number
}

/** Totals of all libraries that are not deleted. */
export async function totalsOfAll(reader: Reader): Promise<LibraryTotals> {
  const row = await reader.get<{
    libraries: number
    files: number | string | null
    size: number | string | null
  }>(
    `select count(*) as libraries, sum(file_count) as files, ${librarySizes.fileSizeSum} as size from ${libraryRows.wholeRelation} library
     where deleted_at is null`,
  )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return {
    libraries: row?.libraries ?? 0,
    files: Number(row?.files ?? 0),
    size: Number(row?.size ?? 0),
  }
}

function containing(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
}
