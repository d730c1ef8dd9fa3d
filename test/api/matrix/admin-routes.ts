import { randomUUID } from 'node:crypto'
import { BOUNDARY, formBytes } from '../../support/transfer.ts'
import { administers, nobody, open, owns, type Sent, self, type Table, under } from './policy.ts'
import { expectOk, PICTURE, type Stage } from './stage.ts'

const ADMIN = '/api/v2.1/admin/'

const deleted = async (stage: Stage, caller: string): Promise<Sent> => ({
  params: { repo_id: await stage.deleted(caller) },
})
const avatar: Sent = {
  raw: formBytes([{ name: 'avatar', filename: 'me.png', bytes: PICTURE }]),
  headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
}

type Made = Sent | ((stage: Stage) => Sent)

/** A call about the group that is created on first use. */
function ofTeam(sent: Made = {}): (stage: Stage) => Promise<Sent> {
  return async (stage) => {
    const { params, ...rest } = typeof sent === 'function' ? sent(stage) : sent
    return { ...rest, params: { group_id: await stage.team(), ...params } }
  }
}

function ofLinks(kind: 'share' | 'upload') {
  const one = async (stage: Stage): Promise<Sent> => ({
    params: { token: await stage.link('openLink', kind) },
  })
  return {
    [`GET ${ADMIN}${kind}-links/`]: {},
    [`GET ${ADMIN}${kind}-links/:token/`]: one,
    [`DELETE ${ADMIN}${kind}-links/:token/`]: one,
  }
}

/** Administration, and the calls added with it: avatars, scoped tokens, usage. */
export const adminRoutes: Table = {
  ...under(administers, {
    [`POST ${ADMIN}libraries/`]: ({ cast }) => ({
      form: { name: 'Given', owner: cast.callers.leaver.email },
    }),
    [`PUT ${ADMIN}trash-libraries/:repo_id/`]: deleted,
    [`DELETE ${ADMIN}trash-libraries/:repo_id/`]: deleted,
    [`DELETE ${ADMIN}trash-libraries/`]: ({ cast }) => ({ form: { owner: cast.callers.owner.email } }),
    [`DELETE ${ADMIN}devices/`]: ({ cast }) => ({
      form: { user: cast.callers.leaver.email, platform: 'linux', device_id: randomUUID() },
    }),
    [`POST ${ADMIN}groups/`]: (stage) => ({
      form: { group_name: `G ${stage.id.slice(0, 8)} ${stage.fresh()}` },
    }),
    [`GET ${ADMIN}groups/:group_id/`]: ofTeam(),
    [`PUT ${ADMIN}groups/:group_id/`]: ofTeam((stage) => ({
      form: { new_name: `G ${stage.id.slice(0, 8)} ${stage.fresh()}` },
    })),
    [`DELETE ${ADMIN}groups/:group_id/`]: ofTeam(),
    [`GET ${ADMIN}groups/:group_id/members/`]: ofTeam(),
    [`POST ${ADMIN}groups/:group_id/members/`]: ofTeam(({ cast }) => ({
      form: { email: cast.callers.reader.email },
    })),
    [`PUT ${ADMIN}groups/:group_id/members/:email/`]: ofTeam(({ cast }) => ({
      params: { email: cast.callers.writer.email },
      form: { is_admin: 'true' },
    })),
    [`DELETE ${ADMIN}groups/:group_id/members/:email/`]: ofTeam(({ cast }) => ({
      params: { email: cast.callers.writer.email },
    })),
    [`GET ${ADMIN}groups/:group_id/libraries/`]: ofTeam(),
    [`DELETE ${ADMIN}groups/:group_id/libraries/:repo_id/`]: ({ cast }) => ({
      params: { group_id: cast.group },
    }),
    ...ofLinks('share'),
    ...ofLinks('upload'),
  }),
  ...under({ ...owns, administrator: 'ok' }, { 'GET /api/v2.1/repos/:repo_id/usage/': {} }),
  ...under(self, {
    'GET /api2/avatars/user/:email/resized/:size/': ({ cast }) => ({
      params: { email: cast.callers.reader.email, size: 48 },
    }),
    'POST /api/v2.1/user-avatar/': avatar,
    // Removes it, because the calls of WebDAV sign in with the account password.
    'POST /api/v2.1/personal-tokens/': (stage) => ({ form: { name: stage.fresh(), permission: 'r' } }),
  }),
  // Those of others are not found.
  ...under(
    Object.fromEntries(
      Object.entries(nobody).map(([caller, one]) => [caller, one === 'denied' ? 'absent' : one]),
    ),
    {
      'DELETE /api/v2.1/personal-tokens/:id/': async (stage) => ({
        params: {
          id: await stage.once('personal token', async () => {
            const form = { name: 'Theirs', permission: 'r' }
            return expectOk(await stage.cast.callers.leaver.post('/api/v2.1/personal-tokens/', { form })).body
              .id
          }),
        },
      }),
    },
  ),
  ...under(open, {
    'GET /media/avatars/:name/:size': async (stage) => {
      const { leaver } = stage.cast.callers
      const url = await stage.once('avatar', async () => {
        expectOk(await leaver.post('/api/v2.1/user-avatar/', avatar))
        return expectOk(await leaver.get(`/api2/avatars/user/${leaver.email}/resized/48/`)).body.url
      })
      const [name = '', size = ''] = new URL(url).pathname.split('/').slice(-2)
      return { params: { name, size } }
    },
  }),
}
