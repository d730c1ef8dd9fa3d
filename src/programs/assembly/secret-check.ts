import { StartError } from '../../base/errors.ts'
import { agreeOn, replaceAgreed } from '../../platform/cluster/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'

const NAME = 'secret'

/**
 * Throws StartError if the secret is not the one of the other servers on a PostgreSQL database: this server could not read what they encrypted, and would sign
 * users out. The database has a value that is derived from the secret and does not reveal it. A rotated secret is recognized by its previous keys.
 */
export async function checkSecret(db: Database, secret: ServerSecret): Promise<void> {
  // A SQLite file is used by one server, and its secret is beside it.
  if (db.dialect === 'sqlite') return
  const [current, ...previous] = checkValues(secret)
  const agreed = await db.write(async (tx) => {
    const found = await agreeOn(tx, NAME, current)
    if (!previous.includes(found)) return found
    await replaceAgreed(tx, NAME, current)
    return current
  })
  if (agreed === current) return
  throw new StartError(
    'The secret of this server is not the one this database is used with: give it the file secret or the CARREL_SECRET of the other servers, or run carrel secret adopt if that secret is lost.',
  )
}

/** Lets servers with this secret use the database. Nobody can read any more what another one encrypted. */
export async function adoptSecret(db: Database, secret: ServerSecret): Promise<void> {
  const [current] = checkValues(secret)
  await db.write((tx) => replaceAgreed(tx, NAME, current))
}

function checkValues(secret: ServerSecret): [string, ...string[]] {
  const [current, ...previous] = deriveKeys(secret, 'check value of the secret')
  return [current.toString('hex'), ...previous.map((key) => key.toString('hex'))]
}
