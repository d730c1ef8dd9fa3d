import { randomUUID } from 'node:crypto'
import { Client } from '../../support/client.ts'
import { addApp, codeOf } from '../../support/second-factors.ts'
import { personalToken } from '../../support/tokens.ts'
import { administers, nobody, open, type Sent, self, type Table, under } from './policy.ts'
import type { Stage } from './stage.ts'

const victim = (form: Sent['form'] = {}) => {
  return async ({ cast }: Stage): Promise<Sent> => ({ params: { email: (await cast.victim()).email }, form })
}
const fresh = () => `fresh-${randomUUID()}@example.org`

const signedInAnew = async (stage: Stage, caller: string, form: Sent['form'] = {}): Promise<Sent> => {
  if (self[caller] !== 'ok') return { form }
  const account = await stage.cast.victim()
  return { form, as: new Client(account.url, account.token, account.email) }
}

/** A scoped token signs itself out, so it needs one of its own, too. */
const signedOutWith = async (stage: Stage, caller: string): Promise<Sent> => {
  if (caller !== 'elsewhereToken') return signedInAnew(stage, caller)
  const account = await stage.cast.victim()
  const owner = new Client(account.url, account.token, account.email)
  return { as: await personalToken(owner, { permission: 'rw' }) }
}

/** The key of a device of the account that needs no code. */
const trustedDeviceOf = async ({ cast }: Stage, client: Client): Promise<number> => {
  const { accounts, db, secondFactors } = cast.server.running.services
  const account = await accounts.get(client.email)
  await db.write((tx) => secondFactors.trustIn(tx, account, { address: '192.0.2.1' }))
  return (await client.get('/api/v2.1/second-factors/')).body.trusted_devices[0].id
}

/** Of a client that waits, from a network of its own: the number of open requests of a network is limited. */
const userCode = async ({ cast }: Stage) => {
  const asked = { clientId: 'carrel', deviceName: '', access: 'write', address: '192.0.2.1' } as const
  const { userCode: user_code } = await cast.server.running.services.deviceAuthorizations.begin(
    asked,
    randomUUID(),
  )
  return { user_code }
}

/** Pages of other servers, which browsers are redirected from. */
const OLD_ADDRESSES = [
  '/my-libs/',
  '/libraries/',
  '/shared-libs/',
  '/org/',
  '/dashboard/',
  '/starred/',
  '/share-admin-libs/',
  '/share-admin-folders/',
  '/share-admin-share-links/',
  '/share-admin-upload-links/',
  '/groups/',
  '/profile/',
  '/accounts/login/',
  '/sys/',
]
const asBrowser: Sent = { headers: { Accept: 'text/html' } }

/** Accounts, the caller's own data, and public calls. */
export const accountRoutes: Table = {
  ...under(open, {
    'GET /healthz': {},
    'GET /readyz': {},
    'GET /.well-known/security.txt': {},
    'POST /api2/auth-token/': ({ cast }) => ({
      form: { username: cast.callers.stranger.email, password: 'a long password' },
    }),
    // One address may have 20 open requests.
    'POST /api2/client-sso-link/': async ({ cast }) => {
      const { db } = cast.server.running.services
      await db.write((tx) => tx.run("delete from device_authorization where access = 'session'"))
      return {}
    },
    'GET /notification/ping': {},
    'GET /pages/pages.css': {},
    'GET /pages/pages.js': {},
    'GET /pages/reference.css': {},
    'GET /pages/reference.js': {},
    'GET /api/openapi.json': {},
    'GET /api/docs': {},
    'GET /': {},
    'GET /app/': {},
    'GET /smart-link/:token/': {},
    ...Object.fromEntries(OLD_ADDRESSES.map((address) => [`GET ${address}`, asBrowser])),
    'GET /client-login/': asBrowser,
    'GET /client-sso/:token/': asBrowser,
    'GET /library/:repo_id/': asBrowser,
    'GET /lib/:repo_id/file/': asBrowser,
    'GET /pages/icon.svg': {},
    'GET /seafhttp/protocol-version': {},
    'POST /seafhttp/repo/head-commits-multi/': ({ id }) => ({ raw: JSON.stringify([id]) }),
  }),
  ...under(Object.fromEntries(Object.keys(open).map((caller) => [caller, 'absent'])), {
    'GET /web/': {},
    'GET /api2/client-sso-link/:token/': {},
    'POST /api2/device-wiped/': { form: { token: '0'.repeat(40) } },
  }),
  // Without a mail server, or with an unknown token.
  ...under(Object.fromEntries(Object.keys(open).map((caller) => [caller, 400 as const])), {
    'POST /api/v2.1/password-reset/': { form: { email: 'nobody@example.org' } },
    'POST /api/v2.1/password-reset/check/': { form: { token: 'unknown' } },
    'POST /api/v2.1/password-reset/confirm/': { form: { token: 'unknown', new_password: 'a long password' } },
    'POST /api/v2.1/confirm-contact-email/': { form: { token: 'unknown' } },
    'POST /api/v2.1/device-authorization/token/': {
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'carrel',
        device_code: 'unknown',
      },
    },
    'POST /api/v2.1/client-login/': { form: { token: 'unknown', device_id: '0'.repeat(40) } },
  }),
  ...under(self, {
    'DELETE /api2/devices/': { form: { platform: 'linux', device_id: randomUUID() } },
    'POST /api2/logout-device/': signedOutWith,
    'POST /api/v2.1/device-authorization/check/': async (stage) => ({ form: await userCode(stage) }),
    'POST /api/v2.1/device-authorization/approve/': async (stage) => ({
      form: { ...(await userCode(stage)), name: 'carrel', permission: 'r' },
    }),
    'POST /api/v2.1/device-authorization/deny/': async (stage) => ({ form: await userCode(stage) }),
    'DELETE /api/v2.1/second-factors/': signedInAnew,
    'PUT /api/v2.1/second-factors/totp/': async (stage, caller) => {
      const sent = await signedInAnew(stage, caller)
      if (sent.as === undefined) return { form: { setup: 'none', code: '000000' } }
      const { secret, setup } = (await sent.as.post('/api/v2.1/second-factors/totp/')).body
      return { ...sent, form: { setup, code: codeOf(secret) } }
    },
    'POST /api/v2.1/second-factors/recovery-codes/': async (stage, caller) => {
      const sent = await signedInAnew(stage, caller)
      if (sent.as !== undefined) await addApp(sent.as)
      return sent
    },
    'DELETE /api/v2.1/second-factors/trusted-devices/:id/': async (stage, caller) => {
      const sent = await signedInAnew(stage, caller)
      if (sent.as === undefined) return { params: { id: 1 } }
      return { ...sent, params: { id: await trustedDeviceOf(stage, sent.as) } }
    },
    'DELETE /api/v2.1/sessions/': signedInAnew,
    'DELETE /api/v2.1/sessions/:session_id/': async (stage, caller) => {
      const sent = await signedInAnew(stage, caller)
      const [session] = sent.as === undefined ? [] : (await sent.as.get('/api/v2.1/sessions/')).body.sessions
      return { ...sent, params: { session_id: session?.id ?? 1 } }
    },
    'POST /api/v2.1/user/reset-password/': (stage, caller) =>
      signedInAnew(stage, caller, { old_password: 'a long password', new_password: 'a longer password' }),
    'POST /api/v2.1/user-list/': ({ cast }) => ({ json: { user_id_list: [cast.callers.reader.email] } }),
    'GET /api/v2.1/events/': { headOnly: true },
  }),
  ...under(
    { ...nobody, reader: 'ok' },
    {
      'PUT /api/v2.1/notification/': async (stage) => {
        const { owner, reader } = stage.cast.callers
        await stage.once('notification', async () => {
          const id = await owner.createLibrary('Handed over')
          return owner.put(`/api2/repos/${id}/owner/`, { form: { owner: reader.email } })
        })
        const { body } = await reader.get('/api/v2.1/notifications/')
        return { form: { notice_id: body.notification_list[0].id } }
      },
    },
  ),
  ...under(administers, {
    // By default no other role may.
    'PUT /api2/accounts/:email/': () => ({
      params: { email: fresh() },
      form: { password: 'a long password' },
    }),
    'GET /api2/accounts/:email/': victim(),
    'POST /api2/accounts/:email/': async (stage) => ({
      ...(await victim()(stage)),
      form: { op: 'migrate', to_user: (await stage.cast.victim()).email },
    }),
    'DELETE /api2/accounts/:email/': victim(),
    'GET /metrics': {},
    'POST /api/v2.1/admin/users/': () => ({ form: { email: fresh(), password: 'a long password' } }),
    'GET /api/v2.1/admin/users/:email/': victim(),
    'PUT /api/v2.1/admin/users/:email/': victim({ name: 'Changed' }),
    'DELETE /api/v2.1/admin/users/:email/': victim(),
    'PUT /api/v2.1/admin/users/:email/reset-password/': victim(),
    'DELETE /api/v2.1/admin/users/:email/second-factors/': async (stage) => {
      const sent = await victim()(stage)
      const { email = '' } = sent.params ?? {}
      const { accounts, db } = stage.cast.server.running.services
      const { key } = await accounts.get(String(email))
      await db.write((tx) => tx.run('update account set second_factor = 1 where key = ?', key))
      return sent
    },
    'POST /api/v2.1/admin/generate-user-auth-token/': async ({ cast }) => ({
      form: { email: (await cast.victim()).email },
    }),
  }),
}
