import {
  manages,
  nobody,
  otherwise,
  owns,
  type Policy,
  reads,
  type Sent,
  self,
  type Table,
  under,
  writes,
} from './policy.ts'
import type { Stage } from './stage.ts'

const V2 = '/api2/repos/:repo_id/'
const V21 = '/api/v2.1/repos/:repo_id/'
const GROUP = '/api/v2.1/groups/:group_id/'

const toReader = ({ cast }: Stage) => ({ share_type: 'user', username: cast.callers.reader.email })
const personal = ({ cast }: Stage) => ({ share_type: 'personal', user: cast.callers.reader.email })

/** The group has the owner, the manager and the writer. */
const members: Policy = { ...writes }
const team = (more: (stage: Stage) => Sent = () => ({})) => {
  return async (stage: Stage): Promise<Sent> => {
    const sent = more(stage)
    return { ...sent, params: { group_id: await stage.team(), ...sent.params } }
  }
}
const sharedWithTeam = async (stage: Stage): Promise<Sent> => {
  const group_id = await stage.team()
  await stage.once('shared with the team', () =>
    stage.owner.put(`${V2.replace(':repo_id', stage.id)}dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'group', group_id, permission: 'rw' },
    }),
  )
  return { params: { group_id } }
}
const member = (form: Sent['form'] = {}) =>
  team(({ cast }) => ({ params: { email: cast.callers.writer.email }, form }))
const added = (name: string) => team(({ cast }) => ({ form: { [name]: cast.callers.leaver.email } }))

const link = (kind: 'share' | 'upload', more: Sent = {}) => {
  return async (stage: Stage): Promise<Sent> => ({
    ...more,
    params: { token: await stage.link('openLink', kind) },
  })
}

/** Shares, groups and links. */
export const sharingRoutes: Table = {
  ...under(self, {
    'GET /api/v2.1/access-summary/': {},
    'POST /api/v2.1/groups/': (stage) => ({ form: { name: `G ${stage.id.slice(0, 8)} ${stage.fresh()}` } }),
    'PUT /api2/groups/': (stage) => ({ form: { group_name: `G ${stage.id.slice(0, 8)} ${stage.fresh()}` } }),
    'DELETE /api/v2.1/share-links/clean-invalid/': {},
    'DELETE /api/v2.1/upload-links/clean-invalid/': {},
  }),
  // The server of the matrix holds no shares. test/api/share-acceptance.test.ts has one that does.
  ...under(otherwise(nobody, 'absent'), {
    'POST /api/v2.1/held-shares/': ({ cast }) => ({ form: { from: cast.callers.writer.email } }),
    'DELETE /api/v2.1/held-shares/': ({ cast }) => ({ query: { from: cast.callers.writer.email } }),
  }),
  ...under(manages, {
    [`PUT ${V2}dir/shared_items/`]: ({ cast }) => ({
      query: { p: '/' },
      form: { share_type: 'user', username: cast.callers.leaver.email, permission: 'rw' },
    }),
    [`POST ${V2}dir/shared_items/`]: (stage) => ({
      query: { p: '/', ...toReader(stage) },
      form: { permission: 'rw' },
    }),
    [`DELETE ${V2}dir/shared_items/`]: (stage) => ({ query: { p: '/', ...toReader(stage) } }),
    [`PUT ${V21}file/shared-items/`]: ({ cast }) => ({
      query: { p: '/in.txt' },
      form: { share_type: 'user', username: cast.callers.leaver.email, permission: 'rw' },
    }),
    [`POST ${V21}file/shared-items/`]: async (stage) => {
      await stage.once('shared file', () =>
        stage.owner.put(`${V21.replace(':repo_id', stage.id)}file/shared-items/`, {
          query: { p: '/in.txt' },
          form: toReader(stage),
        }),
      )
      return { query: { p: '/in.txt', ...toReader(stage) }, form: { permission: 'r' } }
    },
    [`DELETE ${V21}file/shared-items/`]: ({ cast }) => ({
      query: { p: '/in.txt', share_type: 'user', username: cast.callers.leaver.email },
    }),
  }),
  // The older calls are for owners only.
  ...under(owns, {
    'PUT /api2/shared-repos/:repo_id/': ({ cast }) => ({
      query: { share_type: 'personal', user: cast.callers.leaver.email, permission: 'rw' },
    }),
    'DELETE /api2/shared-repos/:repo_id/': (stage) => ({ query: personal(stage) }),
    'PUT /api/v2.1/shared-repos/:repo_id/': (stage) => ({ form: { ...personal(stage), permission: 'rw' } }),
  }),
  // Administrators may revoke any share.
  ...under(
    { ...owns, administrator: 'ok' },
    {
      'DELETE /api/v2.1/shared-repos/:repo_id/': (stage) => ({ query: personal(stage) }),
    },
  ),
  // A caller without permission gets the rejection per library.
  ...under(otherwise(manages, 'empty'), {
    'POST /api/v2.1/repos/batch/': ({ id, cast }) => ({
      form: {
        operation: 'share',
        repo_id: id,
        share_type: 'user',
        username: cast.callers.leaver.email,
        permission: 'rw',
      },
    }),
  }),
  // Access through a group or a folder: no share with them exists under this name.
  ...under(
    {
      ...self,
      stranger: 'denied',
      administrator: 'denied',
      folderReader: 'denied',
      groupMember: 400,
      owner: 400,
    },
    {
      'DELETE /api2/beshared-repos/:repo_id/': ({ cast }) => ({
        query: { share_type: 'personal', from: cast.callers.owner.email },
      }),
    },
  ),
  ...under(members, {
    [`GET ${GROUP}`]: team(),
    [`GET ${GROUP}members/`]: team(),
    [`GET ${GROUP}members/:email/`]: member(),
    [`GET ${GROUP}search-member/`]: team(() => ({ query: { q: 'writer' } })),
    [`GET ${GROUP}libraries/`]: team(),
    [`POST ${GROUP}libraries/`]: team(() => ({ form: { repo_name: 'Ours', permission: 'rw' } })),
    'GET /api2/groups/:group_id/repos/': team(),
    'POST /api2/groups/:group_id/repos/': team(() => ({ form: { name: 'Ours', permission: 'rw' } })),
  }),
  ...under(manages, {
    [`POST ${GROUP}members/`]: added('email'),
    [`POST ${GROUP}members/bulk/`]: added('emails'),
    'PUT /api2/groups/:group_id/members/': added('user_name'),
    [`PUT ${GROUP}`]: team(() => ({ form: { name: 'Renamed' } })),
    'POST /api2/groups/:group_id/': team(() => ({ form: { operation: 'rename', newname: 'Renamed' } })),
  }),
  // A member may leave.
  ...under(members, {
    [`DELETE ${GROUP}members/:email/`]: member(),
  }),
  ...under(manages, {
    'DELETE /api2/groups/:group_id/members/': team(({ cast }) => ({
      form: { user_name: cast.callers.writer.email },
    })),
  }),
  ...under(owns, {
    [`DELETE ${GROUP}`]: team(),
    'DELETE /api2/groups/:group_id/': team(),
    [`PUT ${GROUP}members/:email/`]: member({ is_admin: 'true' }),
  }),
  ...under(manages, {
    [`DELETE ${GROUP}libraries/:repo_id/`]: sharedWithTeam,
    'DELETE /api2/groups/:group_id/repos/:repo_id/': sharedWithTeam,
  }),
  ...under(
    { ...manages, administrator: 'ok' },
    {
      [`GET ${V21}locks/`]: {},
      [`DELETE ${V21}locks/`]: { query: { p: '/docs' } },
      [`GET ${V21}access-explanation/`]: ({ cast }) => ({
        query: { email: cast.callers.reader.email, path: '/' },
      }),
    },
  ),
  ...under(reads, {
    [`GET ${V2}dir/shared_items/`]: { query: { p: '/' } },
    [`GET ${V21}file/shared-items/`]: { query: { p: '/in.txt' } },
    'POST /api/v2.1/share-links/': ({ id }) => ({ json: { repo_id: id, path: '/docs' } }),
    'POST /api/v2.1/multi-share-links/': ({ id }) => ({ json: { repo_id: id, path: '/docs' } }),
  }),
  ...under(writes, {
    'POST /api/v2.1/upload-links/': ({ id }) => ({ json: { repo_id: id, path: '/docs' } }),
  }),
  ...under(owns, {
    'PUT /api/v2.1/share-links/:token/': link('share', { json: { expire_days: 3 } }),
    'PUT /api/v2.1/upload-links/:token/': link('upload', { json: { expire_days: 3 } }),
    'DELETE /api/v2.1/share-links/:token/': link('share'),
    'DELETE /api/v2.1/upload-links/:token/': link('upload'),
  }),
  ...under(manages, {
    [`GET ${V21}access-list/`]: { query: { path: '/' } },
    [`GET ${V21}share-links/`]: {},
    [`GET ${V21}upload-links/`]: {},
    [`GET ${V2}download-shared-links/`]: {},
    [`GET ${V2}upload-shared-links/`]: {},
    [`DELETE ${V21}share-links/:token/`]: link('share'),
    [`DELETE ${V21}upload-links/:token/`]: link('upload'),
    [`DELETE ${V2}download-shared-links/:token/`]: link('share'),
    [`DELETE ${V2}upload-shared-links/:token/`]: link('upload'),
  }),
  ...under(otherwise(owns, 'absent'), {
    'GET /api/v2.1/share-links/:token/': link('share'),
    'GET /api/v2.1/upload-links/:token/': link('upload'),
  }),
  ...under(otherwise(owns, 400), {
    'DELETE /api2/shared-links/': async (stage) => ({ query: { t: await stage.link('openLink') } }),
  }),
  ...under(otherwise(owns, 'empty'), {
    'DELETE /api/v2.1/share-links/': async (stage) => ({ json: { tokens: [await stage.link('openLink')] } }),
    'DELETE /api/v2.1/upload-links/': async (stage) => ({
      json: { tokens: [await stage.link('openLink', 'upload')] },
    }),
  }),
  ...under(otherwise(owns, 'absent'), {
    'POST /api2/send-share-link/': async (stage) => ({
      form: { email: 'a@example.org', token: await stage.link('openLink') },
    }),
    'POST /api2/send-upload-link/': async (stage) => ({
      form: { email: 'a@example.org', token: await stage.link('openLink', 'upload') },
    }),
  }),
}
