import { inflateSync } from 'node:zlib'
import {
  Dir,
  encodeFile,
  type FsId,
  InvalidObject,
  parseFile,
  parseJson,
  sha1Hex,
} from '../../base/objects/index.ts'
import { packDir, packFile } from '../../base/packing/index.ts'
import { AS_RECEIVED, DIR, FILE, PACKED } from '../tree/index.ts'
import type { ReceivedObject } from './received-store.ts'

/** An object as a client sends it. */
export interface SentObject {
  readonly id: FsId
  /** The JSON, zlib-compressed. */
  readonly packed: Buffer
}

/** Parses and verifies an object. Undefined if its JSON has more than `most` bytes. Throws InvalidObject. */
export function readSent({ id, packed }: SentObject, most: number): ReceivedObject | undefined {
  const json = unpack(packed, most)
  if (json === undefined) return undefined
  if (sha1Hex(json) !== id) throw new InvalidObject('does not hash to its id')
  return kindOf(json) === DIR ? readDir(id, json) : readFile(id, json, packed)
}

function unpack(packed: Buffer, most: number): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: most })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new InvalidObject('is not zlib', { cause: error })
  }
}

function readDir(id: FsId, json: Buffer): ReceivedObject {
  const dir = Dir.parse(json)
  if (dir.size === 0) throw new InvalidObject('is an empty dir, which has no object')
  return { id, kind: DIR, encoding: PACKED, size: 0, data: packDir(dir) }
}

function readFile(id: FsId, json: Buffer, packed: Buffer): ReceivedObject {
  const file = parseFile(json)
  if (file.blockIds.length === 0 || file.size === 0) {
    throw new InvalidObject('is an empty file, which has no object')
  }
  const isCanonical = encodeFile(file).equals(json)
  const data = isCanonical ? packFile(file) : Buffer.copyBytesFrom(packed)
  return { id, kind: FILE, encoding: isCanonical ? PACKED : AS_RECEIVED, size: file.size, data }
}

/** Recognized by the usual first bytes. Other JSON is parsed to find out. */
function kindOf(json: Buffer): number {
  const start = json.toString('latin1', 0, 12)
  if (start.startsWith('{"dirents"')) return DIR
  if (start.startsWith('{"block_ids')) return FILE
  return parseJson(json).type === DIR ? DIR : FILE
}
