import { randomBytes } from 'node:crypto'
import { type CallOptions, Client, type Reply } from '../../support/client.ts'
import { addApp } from '../../support/second-factors.ts'
import { personalToken } from '../../support/tokens.ts'
import { unshare } from '../sharing-support.ts'
import type { Leaves, Leftover } from './leftovers.ts'
import { type Credential, type Ending, REFUSED, type Trial } from './revocation.ts'
import { expectOk, type LinkState } from './stage.ts'
import { ticketIn } from './transfer-routes.ts'
import { shown } from './visit-routes.ts'

const PASSWORD = 'a long password'
const WEBDAV_PASSWORD = 'davSecret-1'

/** Credentials that end with an account, or with all its sessions. Links belong to the account, not to a session. */
const accountGone: Readonly<Record<Credential, string>> = {
  account: 'revoked',
  'library token': 'deletedToken',
  'sync token': 'unknownToken',
  ticket: 'unknownTicket',
  link: 'switchedOff',
  'webdav password': 'wrongPassword',
}
const signedOut = { ...accountGone, link: 'openLink' }
/** A library token belongs to the library, so it outlives the session that created it. Passwords are not of a session. */
const oneSignedOut = { ...signedOut, 'library token': 'writingApp', 'webdav password': 'owner' }
const unshared: Readonly<Partial<Record<Credential, string>>> = {
  account: 'stranger',
  'sync token': 'unshared',
  ticket: 'unshared',
  link: 'switchedOff',
  'webdav password': 'stranger',
}
const gone: Readonly<Partial<Record<Credential, string>>> = {
  account: REFUSED,
  'library token': REFUSED,
  'sync token': REFUSED,
  ticket: REFUSED,
  link: REFUSED,
  'webdav password': REFUSED,
}

/** What belongs to an account or a library, whatever session made it. */
const belongings: Leaves = {
  link: 'belongs to the account, and gives nothing without its right',
  webhook: 'belongs to the library, and acts while its maker owns it',
  lock: 'belongs to the account, and is in effect while it may write there',
  star: 'belongs to the account, and is hidden without its right',
  'monitored library': 'belongs to the account, which is notified of what it may read',
  comment: 'belongs to the file',
  'notified of comments': 'belongs to the account, which is notified of what it may read',
  notification: 'belongs to the account, and is hidden without its right',
  group: 'belongs to the account',
  membership: 'belongs to the account',
  'share given': 'belongs to the library',
  library: 'belongs to the account',
}
/** A deactivated account keeps what is its own, for when it is active again. Nothing acts for it. */
const inactive = without(belongings, 'webhook')
/** What takes the password to make. */
const confirmed: Leaves = {
  'personal token': 'was confirmed with the password, and outlives the session',
  'library token': 'was confirmed with the password, and belongs to the library',
  'approved program': 'was confirmed with the password, and outlives the session',
  'WebDAV password': 'was confirmed with the password, and outlives the session',
  'WebDAV program': 'signs in with a password of its own',
  'trusted device': 'stands for a code only, and needs the password besides',
}
/** A session or another credential of the account is not concerned. */
const others: Leaves = {
  ...belongings,
  ...confirmed,
  session: 'is another one, or of the account',
  'sync token': 'is of another session, or opens nothing without its right',
  ticket: 'is of another session, or opens nothing without its right',
  'link into the web app': 'is of another session',
}
/** Without the right on a library, credentials of the account open nothing in it, as the calls show. */
const withoutRight: Leaves = others
/** What ends with a library, until it is restored. */
const withoutLibrary = without(others, 'library token', 'sync token', 'ticket', 'link', 'lock', 'share given')

const admin = (path: string) => `/api/v2.1/admin/${path}/`
const changeUser = ({ admin: by, holder }: Trial, form: Record<string, string>): Promise<Reply> =>
  by.put(admin(`users/${holder.email}`), { form })
const deleteLibrary = ({ stage }: Trial): Promise<Reply> => stage.owner.delete(`/api/v2.1/repos/${stage.id}/`)
const changeShare = ({ stage, holder }: Trial, permission: string): Promise<Reply> =>
  stage.owner.post(`/api2/repos/${stage.id}/dir/shared_items/`, {
    query: { p: '/', share_type: 'user', username: holder.email },
    form: { permission },
  })
const byHolder = async ({ stage, holder }: Trial): Promise<void> => {
  stage.linkMaker = holder
}
const eachLink = async ({ stage, holder }: Trial, act: (kind: string, token: string) => Promise<Reply>) => {
  for (const kind of ['share', 'upload']) {
    const { body } = expectOk(await holder.get(`/api/v2.1/${kind}-links/`, { repo_id: stage.id }))
    for (const { token } of body) expectOk(await act(kind, token))
  }
}
const setLinkPasswords = (trial: Trial): Promise<void> =>
  eachLink(trial, (kind, token) => {
    const json = { password: 'walnut and elder' }
    return trial.holder.put(`/api/v2.1/${kind}-links/${token}/`, { json })
  })
const write = async ({ cast }: Trial, sql: string, ...values: (string | number)[]): Promise<void> => {
  await cast.server.running.services.db.write((tx) => tx.run(sql, ...values))
}

/** Only the time of a share ends it: nothing else is written when it expires. */
const EXPIRE_SHARE = `update share set expires_at = 1 where grantee = 'user'
  and grantee_key = (select key from account where email = ?)
  and library_key = (select key from library where id = ?)`

/** The device of a holder that signed in on one. */
const device = { platform: 'linux', device_id: randomBytes(20).toString('hex') }
const onDevice = async ({ holder }: Trial): Promise<Client> => {
  const form = {
    username: holder.email,
    password: PASSWORD,
    ...device,
    device_name: 'desk',
    client_version: '9.0.0',
    platform_version: '12',
  }
  const { token } = expectOk(await new Client(holder.url).post('/api2/auth-token/', { form })).body
  return new Client(holder.url, token, holder.email)
}
const withPersonalToken = async ({ stage, holder }: Trial) => {
  const client = await personalToken(holder, { permission: 'rw' })
  stage.webdavPassword = client.token
  return client
}
const setWebdavPassword = async ({ holder }: Trial, secret: string): Promise<void> => {
  expectOk(await holder.put('/api/v2.1/webdav-secret/', { form: { secret } }))
}
/** The holder uses WebDAV with a password of its own. */
const withWebdavPassword = async (trial: Trial): Promise<void> => {
  await setWebdavPassword(trial, WEBDAV_PASSWORD)
  trial.stage.webdavPassword = WEBDAV_PASSWORD
}
const personalTokenOf = async ({ holder }: Trial): Promise<number> => {
  return expectOk(await holder.get('/api/v2.1/personal-tokens/')).body.personal_tokens[0].id
}
const ofToken = {
  account: 'revoked',
  ticket: 'unknownTicket',
  'webdav password': 'wrongPassword',
} as const
/** A personal token manages nothing, whoever created it. */
const asWriter = { account: 'writer' } as const

/** The holder reads the library because it is shared with everyone. */
const readsPublic = async (trial: Trial): Promise<void> => {
  const { stage, admin: by, holder } = trial
  const owner = admin(`users/${stage.owner.email}`)
  expectOk(await by.put(owner, { form: { is_staff: 'true' } }))
  const query = { share_type: 'public', permission: 'r' }
  expectOk(await stage.owner.put(`/api2/shared-repos/${stage.id}/`, { query }))
  expectOk(await by.put(owner, { form: { is_staff: 'false' } }))
  stage.asker = holder
}
const asReader = {
  account: 'reader',
  'sync token': 'reader',
  ticket: 'reader',
  'webdav password': 'reader',
} as const
const notPublic = {
  account: 'stranger',
  'sync token': 'unshared',
  ticket: 'unshared',
  'webdav password': 'stranger',
} as const

/** Tickets that visitors got by the links of the stage in one state. */
const ticketsBy = async ({ stage }: Trial, state: LinkState): Promise<Record<string, string>> => {
  const file = await stage.link(state, 'share', '/docs/in.txt')
  const folder = await stage.link(state)
  const upload = await stage.link(state, 'upload')
  const ask = async (token: string, method: string, url: string, sent: CallOptions = {}) => {
    const headers = await shown(stage, state, token, token === upload ? 'upload' : 'share')
    return stage.cast.callers.anonymous.call(method, url, { ...sent, headers })
  }
  const download = await ask(file, 'GET', `/f/${file}/`, { query: { dl: 1 } })
  const form = { token: folder, parent_dir: '/', dirents: 'in.txt' }
  const archive = await ask(folder, 'POST', '/api/v2.1/share-link-zip-task/', { form })
  const added = await ask(folder, 'GET', `/api/v2.1/share-links/${folder}/upload/`)
  const uploaded = await ask(upload, 'GET', `/api/v2.1/upload-links/${upload}/upload/`)
  return {
    'GET /seafhttp/files/:ticket/:name': ticketIn(download.headers.get('location') ?? ''),
    'GET /seafhttp/zip/:ticket': expectOk(archive).body.zip_token,
    'POST /seafhttp/upload-aj/:ticket': ticketIn(expectOk(added).body.upload_link),
    'POST /seafhttp/upload-api/:ticket': ticketIn(expectOk(uploaded).body.upload_link),
  }
}

const byLinks = (trial: Trial) => ticketsBy(trial, 'openLink')

/** Every way to revoke a permission. */
export const endings: readonly Ending[] = [
  {
    name: 'the account is deactivated',
    role: 'owner',
    end: async (trial) => void expectOk(await changeUser(trial, { is_active: 'false' })),
    becomes: { ...accountGone, account: 'deactivated', 'webdav password': 'deactivated' },
    leaves: inactive,
  },
  {
    name: 'the account is deleted',
    role: 'owner',
    end: async ({ admin: by, holder }) => void expectOk(await by.delete(admin(`users/${holder.email}`))),
    // Its libraries are deleted with it.
    becomes: { ...accountGone, 'sync token': REFUSED },
    leaves: { session: 'is the hash of its token, so that the client learns of the end' },
  },
  {
    name: 'the password is changed',
    role: 'owner',
    end: async ({ holder }) => {
      const form = { old_password: PASSWORD, new_password: 'another long password' }
      expectOk(await holder.post('/api/v2.1/user/reset-password/', { form }))
    },
    becomes: signedOut,
    leaves: belongings,
  },
  {
    name: 'an administrator resets the password',
    role: 'owner',
    prepare: withWebdavPassword,
    end: async ({ admin: by, holder }) => {
      expectOk(await by.put(admin(`users/${holder.email}/reset-password`)))
    },
    becomes: signedOut,
    leaves: belongings,
  },
  {
    name: 'the holder signs out',
    role: 'owner',
    end: async ({ holder }) => void expectOk(await holder.post('/api2/logout-device/')),
    becomes: oneSignedOut,
    leaves: { ...belongings, ...confirmed },
  },
  {
    name: 'the holder signs out everywhere',
    role: 'owner',
    prepare: withWebdavPassword,
    end: async ({ holder }) => void expectOk(await holder.delete('/api/v2.1/sessions/')),
    becomes: signedOut,
    leaves: belongings,
  },
  {
    name: 'the session expires',
    role: 'owner',
    end: (trial) =>
      write(
        trial,
        'update api_token set last_used_at = 1 where account_key = (select key from account where email = ?)',
        trial.holder.email,
      ),
    // A device continues to sync: its tokens are used although the API token is not.
    becomes: { account: 'revoked', 'webdav password': 'owner' },
    leaves: others,
  },
  {
    name: 'the WebDAV password is replaced',
    role: 'owner',
    prepare: withWebdavPassword,
    end: (trial) => setWebdavPassword(trial, 'davSecret-2'),
    becomes: { account: 'owner', 'webdav password': 'wrongPassword' },
    leaves: without(others, 'WebDAV program'),
  },
  {
    name: 'the WebDAV password is removed',
    role: 'writer',
    prepare: withWebdavPassword,
    end: (trial) => setWebdavPassword(trial, ''),
    becomes: { 'webdav password': 'wrongPassword' },
    leaves: without(others, 'WebDAV password', 'WebDAV program'),
  },
  {
    name: 'a WebDAV password is set, which ends WebDAV with the account password',
    role: 'reader',
    end: (trial) => setWebdavPassword(trial, WEBDAV_PASSWORD),
    becomes: { 'webdav password': 'wrongPassword' },
    leaves: without(others, 'WebDAV program'),
  },
  {
    name: 'an authenticator app is set up, which ends WebDAV with the account password',
    role: 'reader',
    end: async ({ holder }) => void (await addApp(holder)),
    becomes: { 'webdav password': 'wrongPassword' },
    leaves: without(others, 'WebDAV program', 'trusted device'),
  },
  {
    name: 'the device is unlinked',
    role: 'writer',
    shows: onDevice,
    end: async ({ holder }) => void expectOk(await holder.delete('/api2/devices/', { form: device })),
    becomes: {
      account: 'revoked',
      'sync token': 'unknownToken',
      ticket: 'unknownTicket',
      'webdav password': 'writer',
    },
    leaves: others,
  },
  {
    name: 'the device is marked for wiping',
    role: 'writer',
    shows: onDevice,
    end: async ({ admin: by, holder }) => {
      const form = { ...device, user: holder.email, wipe_device: 'true' }
      expectOk(await by.delete(admin('devices'), { form }))
    },
    becomes: {
      account: 'revoked',
      'sync token': 'unknownToken',
      ticket: 'unknownTicket',
      'webdav password': 'writer',
    },
    leaves: others,
  },
  {
    name: 'the personal token is revoked',
    role: 'owner',
    shows: withPersonalToken,
    end: async (trial) => {
      const url = `/api/v2.1/personal-tokens/${await personalTokenOf(trial)}/`
      expectOk(await trial.holder.delete(url))
    },
    was: asWriter,
    becomes: ofToken,
    leaves: others,
  },
  {
    name: 'the personal token expires',
    role: 'owner',
    shows: withPersonalToken,
    end: (trial) => write(trial, "update scoped_token set expires_at = 1 where kind = 'personal'"),
    was: asWriter,
    becomes: ofToken,
    leaves: without(others, 'personal token'),
  },
  {
    name: 'the library token is deleted',
    role: 'owner',
    end: async ({ stage, holder }) => {
      expectOk(await holder.delete(`/api/v2.1/repos/${stage.id}/repo-api-tokens/writingApp/`))
    },
    becomes: { 'library token': 'deletedToken' },
    leaves: without(others, 'library token'),
  },
  {
    name: 'the library token becomes read-only',
    role: 'owner',
    end: async ({ stage, holder }) => {
      const url = `/api/v2.1/repos/${stage.id}/repo-api-tokens/writingApp/`
      expectOk(await holder.put(url, { form: { permission: 'r' } }))
    },
    becomes: { 'library token': 'readingApp' },
    leaves: others,
  },
  {
    name: 'the library is no longer shared',
    role: 'writer',
    ofLibrary: true,
    prepare: byHolder,
    end: ({ stage, holder }) => unshare(stage.owner, stage.id, holder),
    becomes: unshared,
    leaves: withoutRight,
  },
  {
    name: 'the holder leaves the share',
    role: 'writer',
    ofLibrary: true,
    prepare: byHolder,
    end: async ({ stage, holder }) => {
      const query = { share_type: 'personal', from: stage.owner.email }
      expectOk(await holder.delete(`/api2/beshared-repos/${stage.id}/`, { query }))
    },
    becomes: unshared,
    leaves: withoutRight,
  },
  {
    name: 'the share expires',
    role: 'writer',
    ofLibrary: true,
    prepare: byHolder,
    end: (trial) => write(trial, EXPIRE_SHARE, trial.holder.email, trial.stage.id),
    becomes: unshared,
    leaves: withoutRight,
  },
  {
    name: 'the share becomes read-only',
    role: 'writer',
    ofLibrary: true,
    end: async (trial) => void expectOk(await changeShare(trial, 'r')),
    becomes: asReader,
    leaves: withoutRight,
  },
  {
    name: 'the share loses administration',
    role: 'manager',
    ofLibrary: true,
    end: async (trial) => void expectOk(await changeShare(trial, 'rw')),
    becomes: { account: 'writer', 'webdav password': 'writer' },
    leaves: withoutRight,
  },
  {
    name: 'the holder is removed from the group',
    role: 'groupMember',
    ofLibrary: true,
    end: async ({ cast, holder }) => {
      expectOk(await cast.callers.owner.delete(`/api/v2.1/groups/${cast.group}/members/${holder.email}/`))
    },
    becomes: { account: 'stranger', 'webdav password': 'stranger' },
    leaves: withoutRight,
  },
  {
    name: 'the administrator is demoted',
    role: 'administrator',
    end: async (trial) => void expectOk(await changeUser(trial, { role: 'default', is_staff: 'false' })),
    becomes: { account: 'stranger' },
    leaves: withoutRight,
  },
  {
    name: 'the library is deleted',
    role: 'owner',
    ofLibrary: true,
    end: async (trial) => void expectOk(await deleteLibrary(trial)),
    becomes: gone,
    leaves: without(withoutLibrary, 'webhook', 'library'),
  },
  {
    name: 'the library is deleted and restored',
    role: 'owner',
    ofLibrary: true,
    end: async (trial) => {
      expectOk(await deleteLibrary(trial))
      expectOk(await trial.holder.post('/api/v2.1/deleted-repos/', { form: { repo_id: trial.stage.id } }))
    },
    becomes: {
      'library token': 'deletedToken',
      'sync token': 'unknownToken',
      ticket: 'unknownTicket',
      link: 'unknownLink',
    },
    leaves: withoutLibrary,
  },
  {
    name: 'the library is transferred',
    role: 'owner',
    ofLibrary: true,
    end: async ({ stage, cast, holder }) => {
      const form = { owner: cast.callers.leaver.email }
      expectOk(await holder.put(`/api2/repos/${stage.id}/owner/`, { form }))
    },
    // Links go to the new owner (decision 0009).
    becomes: { account: REFUSED, 'sync token': REFUSED, ticket: REFUSED, 'webdav password': REFUSED },
    leaves: without(withoutRight, 'library token', 'sync token', 'link', 'webhook', 'share given', 'library'),
  },
  {
    name: 'the library is made read-only',
    role: 'writer',
    ofLibrary: true,
    end: async ({ admin: by, stage }) => {
      expectOk(await by.put(admin(`libraries/${stage.id}`), { form: { status: 'read-only' } }))
    },
    becomes: asReader,
    leaves: withoutRight,
  },
  {
    name: 'the holder becomes a guest, who sees no public libraries',
    role: 'stranger',
    ofLibrary: true,
    prepare: readsPublic,
    end: async (trial) => void expectOk(await changeUser(trial, { role: 'guest' })),
    was: asReader,
    becomes: notPublic,
    leaves: withoutRight,
  },
  {
    name: 'the library is no longer public',
    role: 'stranger',
    ofLibrary: true,
    prepare: readsPublic,
    end: async ({ stage }) => {
      const query = { share_type: 'public' }
      expectOk(await stage.owner.delete(`/api/v2.1/shared-repos/${stage.id}/`, { query }))
    },
    was: asReader,
    becomes: notPublic,
    leaves: withoutRight,
  },
  {
    name: 'the creator of the links is deactivated',
    role: 'owner',
    end: async (trial) => void expectOk(await changeUser(trial, { is_active: 'false' })),
    tickets: byLinks,
    becomes: { link: 'switchedOff', ticket: 'unknownTicket' },
    leaves: inactive,
  },
  {
    name: 'the links are disabled',
    role: 'owner',
    end: (trial) =>
      eachLink(trial, (kind, token) =>
        trial.holder.put(`/api/v2.1/${kind}-links/${token}/`, { json: { is_active: false } }),
      ),
    tickets: byLinks,
    becomes: { link: 'switchedOff', ticket: 'unknownTicket' },
    leaves: others,
  },
  {
    name: 'the password of the links changes',
    role: 'owner',
    end: setLinkPasswords,
    // The next request of a visitor with the cookie of the former password.
    was: { link: 'granted' },
    tickets: (trial) => ticketsBy(trial, 'granted'),
    becomes: { link: 'withoutPassword', ticket: 'unknownTicket' },
    leaves: others,
  },
  {
    name: 'the links get a password',
    role: 'owner',
    end: setLinkPasswords,
    tickets: byLinks,
    becomes: { link: 'withoutPassword', ticket: 'unknownTicket' },
    leaves: others,
  },
  {
    name: 'the links are deleted',
    role: 'owner',
    end: (trial) =>
      eachLink(trial, (kind, token) => trial.holder.delete(`/api/v2.1/${kind}-links/${token}/`)),
    tickets: byLinks,
    becomes: { link: 'unknownLink', ticket: 'unknownTicket' },
    leaves: without(others, 'link'),
  },
  {
    name: 'the links expire',
    role: 'owner',
    end: (trial) =>
      eachLink(trial, async (_, token) => {
        await write(trial, 'update link set expires_at = 1 where token = ?', token)
        // A ticket expires with the link it was issued for.
        const ofLink = 'link_key = (select key from link where token = ?)'
        await write(trial, `update ticket set expires_at = 1 where ${ofLink}`, token)
        return trial.holder.get('/api2/ping/')
      }),
    tickets: byLinks,
    becomes: { link: 'expired', ticket: 'unknownTicket' },
    leaves: others,
  },
  {
    name: 'the deadline of the upload links passes',
    role: 'owner',
    end: (trial) =>
      eachLink(trial, (kind, token) => {
        if (kind === 'share') return trial.holder.get('/api2/ping/')
        const request = { deadline: '2001-01-01T00:00:00Z' }
        return trial.holder.put(`/api/v2.1/upload-links/${token}/`, { json: { request } })
      }),
    tickets: async (trial) => {
      const route = 'POST /seafhttp/upload-api/:ticket'
      return { [route]: (await byLinks(trial))[route] ?? '' }
    },
    becomes: { link: 'closed', ticket: 'unknownTicket' },
    leaves: others,
  },
]

function without(leaves: Leaves, ...gone: Leftover[]): Leaves {
  return Object.fromEntries(Object.entries(leaves).filter(([kind]) => !gone.includes(kind as Leftover)))
}
