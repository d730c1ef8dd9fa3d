import { hash } from 'node:crypto'
import { quote } from './canonical.ts'
import {
  type CommitId,
  type DirId,
  type LibraryId,
  parseCommitId,
  parseDirId,
  parseLibraryId,
  parseObjectId,
} from './ids.ts'
import { asId, asInteger, asText, InvalidObject, type Json, parseJson } from './json-fields.ts'

/** An immutable record of one change: root dir, parents, author, time and description. */
export interface Commit {
  readonly id: CommitId
  readonly libraryId: LibraryId
  readonly rootId: DirId
  /** Null only in a library's first commit. */
  readonly parentId: CommitId | null
  /** The commit merged in; null for all but merges. */
  readonly secondParentId: CommitId | null
  /** The id of the sync client, 40 hex digits; zeros for a commit created by a server. */
  readonly creator: string
  /** The account. */
  readonly creatorName: string | undefined
  readonly description: string
  /** Unix seconds. */
  readonly ctime: number
  readonly deviceName: string | undefined
  readonly clientVersion: string | undefined
  /** Whether the merge created conflict files. */
  readonly conflict: boolean
  /** Whether a server created this commit by a merge. */
  readonly newMerge: boolean
}

/** Properties of the library that a commit carries. */
export interface CommitLibrary {
  readonly name: string
  readonly description: string
  readonly encryption?: CommitEncryption
}

/** Password check and wrapped key of an encrypted library. Fields that its version lacks are empty. */
interface CommitEncryption {
  readonly version: number
  /** Hex; empty where `pwdHash` replaces it. */
  readonly magic: string
  /** The random key, wrapped: 96 hex digits from version 2 on. */
  readonly key: string
  /** 64 hex digits from version 3 on. */
  readonly salt: string
  readonly pwdHash?: string
  readonly pwdHashAlgo?: string
  readonly pwdHashParams?: string
}

/** A commit's JSON, keys in the order existing clients write them. */
export function encodeCommit(commit: Commit, library: CommitLibrary): string {
  const fields: [key: string, value: string | number | null | undefined][] = [
    ['commit_id', commit.id],
    ['root_id', commit.rootId],
    ['repo_id', commit.libraryId],
    ['creator_name', commit.creatorName],
    ['creator', commit.creator],
    ['description', commit.description],
    ['ctime', commit.ctime],
    ['parent_id', commit.parentId],
    ['second_parent_id', commit.secondParentId],
    ['repo_name', library.name],
    ['repo_desc', library.description],
    ['repo_category', null],
    ['device_name', commit.deviceName],
    ['client_version', commit.clientVersion],
    ...encryptionFields(library.encryption),
    ['no_local_history', 1],
    ['version', 1],
    ['conflict', commit.conflict ? 1 : undefined],
    ['new_merge', commit.newMerge ? 1 : undefined],
  ]
  const members = fields
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `"${key}": ${typeof value === 'string' ? quote(value) : value}`)
  return `{${members.join(', ')}}`
}

function encryptionFields(of: CommitEncryption | undefined): [string, string | number | undefined][] {
  if (!of) return []
  return [
    ['encrypted', 'true'],
    ['enc_version', of.version],
    ['magic', of.pwdHash ? undefined : of.magic],
    ['key', of.version >= 2 ? of.key : undefined],
    ['salt', of.version >= 3 ? of.salt : undefined],
    ['pwd_hash', of.pwdHash],
    ['pwd_hash_algo', of.pwdHashAlgo],
    ['pwd_hash_params', of.pwdHashParams],
  ]
}

/** Parses a commit of a client. Its id is opaque and not checked. Throws InvalidObject. */
export function parseCommit(text: string): { commit: Commit; library: CommitLibrary } {
  const json = parseJson(text)
  if (json.version !== 1) throw new InvalidObject('version is not 1')
  const commit: Commit = {
    id: asId(json.commit_id, 'commit_id', parseCommitId),
    libraryId: asId(json.repo_id, 'repo_id', parseLibraryId),
    rootId: asId(json.root_id, 'root_id', parseDirId),
    parentId: parentIn(json, 'parent_id'),
    secondParentId: parentIn(json, 'second_parent_id'),
    creator: asId(json.creator, 'creator', parseObjectId),
    creatorName: optionalText(json, 'creator_name')?.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    description: optionalText(json, 'description') ?? '',
    ctime: asInteger(json.ctime, 'ctime', Number.MIN_SAFE_INTEGER),
    deviceName: optionalText(json, 'device_name'),
    clientVersion: optionalText(json, 'client_version'),
    conflict: json.conflict === 1,
    newMerge: json.new_merge === 1,
  }
  const name = optionalText(json, 'repo_name') ?? ''
  const description = optionalText(json, 'repo_desc') ?? ''
  if (json.encrypted !== 'true') return { commit, library: { name, description } }
  return { commit, library: { name, description, encryption: parseEncryption(json) } }
}

function parseEncryption(json: Json): CommitEncryption {
  const version = asInteger(json.enc_version, 'enc_version', 1, 4)
  const pwdHash = optionalText(json, 'pwd_hash')
  const pwdHashAlgo = optionalText(json, 'pwd_hash_algo')
  const pwdHashParams = optionalText(json, 'pwd_hash_params')
  return {
    version,
    magic: pwdHash ? '' : hexIn(json, 'magic', version === 1 ? 32 : 64),
    key: version >= 2 ? hexIn(json, 'key', 96) : '',
    salt: version >= 3 ? hexIn(json, 'salt', 64) : '',
    ...(pwdHash && { pwdHash }),
    ...(pwdHash && pwdHashAlgo && { pwdHashAlgo }),
    ...(pwdHash && pwdHashParams && { pwdHashParams }),
  }
}

function optionalText(json: Json, key: string): string | undefined {
  return json[key] === undefined || json[key] === null ? undefined : asText(json[key], key)
}

function parentIn(json: Json, key: string): CommitId | null {
  return json[key] === undefined || json[key] === null ? null : asId(json[key], key, parseCommitId)
}

function hexIn(json: Json, key: string, length: number): string {
  const text = asText(json[key], key)
  if (text.length !== length || !/^[0-9a-f]+$/i.test(text))
    throw new InvalidObject(`${key} is not ${length} hex digits`)
  return text
}

type Hashed = Pick<Commit, 'rootId' | 'creator' | 'creatorName' | 'description' | 'ctime'>

/** The commit id that existing clients and servers compute. It does not cover the parent, so two commits can have one id. */
export function classicCommitId(fields: Hashed): CommitId {
  return hash('sha1', hashed(fields), 'hex') as CommitId
}

/** The id of a commit of this server: the hash also covers the library, the parents and random bytes. */
export function newCommitId(
  fields: Hashed & Pick<Commit, 'libraryId' | 'parentId' | 'secondParentId'>,
  random: Uint8Array,
): CommitId {
  const where = `${fields.libraryId}\0${fields.parentId ?? ''}\0${fields.secondParentId ?? ''}\0`
  const bytes = hashed(fields, where.length + random.length)
  bytes.write(where, bytes.length - random.length - where.length, 'latin1')
  bytes.set(random, bytes.length - random.length)
  return hash('sha1', bytes, 'hex') as CommitId
}

/** The bytes that the classic id is the hash of, followed by `room` unset bytes. */
function hashed({ rootId, creator, creatorName, description, ctime }: Hashed, room = 0): Buffer {
  const who = creatorName === undefined ? '' : `${creatorName}\0`
  const text = `${rootId}\0${creator}\0${who}${description}\0`
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(length + 8 + room)
  bytes.write(text)
  bytes.writeBigInt64BE(BigInt(ctime), length)
  return bytes
}
