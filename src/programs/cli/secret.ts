import type { Config } from '../../base/config/index.ts'
import { resealWebhookSecrets } from '../../derived/activity/index.ts'
import { resealLibraryTokens } from '../../people/credentials/index.ts'
import { resealTotpSecrets } from '../../people/second-factors/index.ts'
import { lockDataFolder } from '../../platform/data-folder/index.ts'
import { loadSecret, removePreviousKeys, rotateSecret, secretId } from '../../platform/secret/index.ts'
import { resealLinkPasswords } from '../../sharing/access/index.ts'
import { adoptSecret } from '../assembly/index.ts'
import { checkSchema, openExistingDatabase } from './accounts.ts'
import { print } from './output.ts'

/** Works beside a running server, which uses the new key after its next start. */
export async function rotate(config: Config, json: boolean): Promise<void> {
  await checkSchema(config)
  const { file, given } = config.secret
  const fresh = await rotateSecret(file, given, new Date())
  const [current] = await loadSecret(file, fresh)
  const document = { key: secretId(current), ...(fresh !== undefined && { secret: fresh }) }
  const lines =
    fresh === undefined
      ? [`Made the key ${document.key} in ${file}. Restart the server to use it.`]
      : [
          `Made the key ${document.key}. The old one is kept in ${file}.`,
          `Set CARREL_SECRET to ${fresh} and restart the server.`,
        ]
  print(json, document, lines)
}

/** For a database whose secret is lost. Servers with another secret are then refused. */
export async function adopt(config: Config, json: boolean): Promise<void> {
  const { file, given } = config.secret
  await checkSchema(config)
  const secret = await loadSecret(file, given)
  await using db = await openExistingDatabase(config)
  await adoptSecret(db, secret)
  const key = secretId(secret[0])
  print(json, { key }, [`The database is now used with the key ${key}. Everybody has to sign in again.`])
}

/** Needs the server to be stopped: one that was not restarted since the rotation would still encrypt with an older key. */
export async function retire(config: Config, json: boolean): Promise<void> {
  const { file, given } = config.secret
  await checkSchema(config)
  await using _lock = await lockDataFolder(config.dataDirectory, 'carrel secret retire')
  const secret = await loadSecret(file, given)
  await using db = await openExistingDatabase(config)
  const links = await resealLinkPasswords(db, secret)
  const webhooks = await resealWebhookSecrets(db, secret)
  const libraryTokens = await resealLibraryTokens(db, secret)
  const totpSecrets = await resealTotpSecrets(db, secret)
  await removePreviousKeys(file, given)
  const deleted = secret.length - 1
  print(
    json,
    { key: secretId(secret[0]), deletedKeys: deleted, links, webhooks, libraryTokens, totpSecrets },
    [
      `Encrypted ${links} link passwords, ${webhooks} webhook secrets, ${libraryTokens} library tokens and ${totpSecrets} secrets of authenticator apps with the key ${secretId(secret[0])}.`,
      `Deleted ${deleted} older ${deleted === 1 ? 'key' : 'keys'}.`,
    ],
  )
}
