import { newLibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import {
  type LibraryEncryption,
  libraryPasswords,
  parsePasswordHashCost,
} from '../../../libraries/content/index.ts'
import type { LibraryOptions } from '../../../libraries/library/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'

/** Encryption values created by the client; '' for missing ones. */
interface SentEncryption {
  readonly repo_id: string
  readonly enc_version: string
  readonly magic: string
  readonly random_key: string
  readonly salt: string
  readonly pwd_hash: string
  readonly pwd_hash_algo: string
  readonly pwd_hash_params: string
}

/** Options of a library encrypted with a password, or of a plain one if it is empty. The password is not stored. */
export async function optionsWithPassword(
  name: string,
  description: string,
  password: string,
): Promise<LibraryOptions> {
  if (password === '') return { name, description }
  const id = newLibraryId()
  return { id, name, description, encryption: await libraryPasswords.encryptionFrom(id, password) }
}

/** Options of a library with encryption values of the client. Rejects values that could never be decrypted. */
export function optionsWithEncryption(
  name: string,
  description: string,
  sent: SentEncryption,
): LibraryOptions {
  const id = parseLibraryId(sent.repo_id) ?? refuse('Repo id must be a valid uuid')
  return { id, name, description, encryption: parseEncryption(sent) }
}

function parseEncryption(sent: SentEncryption): LibraryEncryption {
  const asked = parseInteger(sent.enc_version || '0')
  if (asked === undefined || asked < 0 || asked > 4) return refuse('Invalid enc_version param.')
  // Versions 0 and 1 are no longer created: version 2 is used instead.
  const version = Math.max(2, asked)
  if (version >= 3 && !isHex(sent.salt, 64)) refuse('salt invalid.')
  const hash = parsePasswordHash(sent)
  if ((hash.pwdHash === '' && !isHex(sent.magic, 64)) || !isHex(sent.random_key, 96)) {
    refuse('You must provide magic, random_key and enc_version.')
  }
  return {
    version,
    magic: hash.pwdHash === '' ? sent.magic : '',
    randomKey: sent.random_key,
    salt: version >= 3 ? sent.salt : '',
    ...hash,
  }
}

/** The verification hash that replaces `magic` in newer clients. */
function parsePasswordHash(sent: SentEncryption) {
  const { pwd_hash: pwdHash, pwd_hash_algo: pwdHashAlgo, pwd_hash_params: pwdHashParams } = sent
  if (pwdHash === '') return { pwdHash: '', pwdHashAlgo: '', pwdHashParams: '' }
  if (!isHex(pwdHash, 64)) refuse('pwd_hash invalid.')
  if (parsePasswordHashCost(pwdHashAlgo, '') === undefined) refuse('pwd_hash_algo invalid.')
  if (parsePasswordHashCost(pwdHashAlgo, pwdHashParams) === undefined) refuse('pwd_hash_params invalid.')
  return { pwdHash, pwdHashAlgo, pwdHashParams }
}

function isHex(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/i.test(text)
}

function refuse(words: string): never {
  throw errorMessage(400, words)
}
