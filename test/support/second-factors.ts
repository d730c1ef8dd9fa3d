import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import type { Client } from './client.ts'

/** Of accounts that sign up without another one. */
const PASSWORD = 'a long password'

/** The code that an authenticator app shows. `at` is in Unix seconds. */
export function codeOf(secret: string, at = Date.now() / 1000): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at * 1000 })
}

/** An authenticator app of an account. */
export interface AddedApp {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

/** Sets up an authenticator app, with the password of the account. */
export async function addApp(client: Client, at?: number): Promise<AddedApp> {
  const { secret, setup } = (await client.post('/api/v2.1/second-factors/totp/')).body
  const form = { setup, code: codeOf(secret, at), current_password: PASSWORD }
  const reply = await client.put('/api/v2.1/second-factors/totp/', { form })
  assert.equal(reply.status, 200, reply.text)
  return { secret, recoveryCodes: reply.body.recovery_codes }
}
