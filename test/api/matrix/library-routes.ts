import {
  manages,
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

const inFile: Sent = { query: { p: '/in.txt', path: '/in.txt' } }
const selection = ({ id }: Stage) => ({
  src_repo_id: id,
  src_parent_dir: '/',
  src_dirents: ['in.txt'],
  dst_repo_id: id,
  dst_parent_dir: '/docs/deep',
})
const oneItem = ({ id }: Stage) => ({
  src_repo_id: id,
  src_parent_dir: '/',
  src_dirent_name: 'in.txt',
  dst_repo_id: id,
  dst_parent_dir: '/docs/deep',
})
const paths = ({ id }: Stage) => ({
  src_repo_id: id,
  dst_repo_id: id,
  paths: [{ src_path: '/in.txt', dst_path: '/docs/deep' }],
})
const blockLink = async (stage: Stage): Promise<Sent> => {
  const { file_id, blklist } = await stage.file()
  return { params: { file_id, block_id: blklist[0] } }
}
const gone = (stage: Stage): Sent => ({ form: { p: '/gone.txt', commit_id: stage.gone } })
const encrypted = async (stage: Stage, form: Sent['form'] = {}): Promise<Sent> => ({
  params: { repo_id: await stage.encrypted() },
  form,
})
const pictured =
  (where: string, size: number | string) =>
  async (stage: Stage): Promise<Sent> => {
    const path = await stage.picture()
    return { params: { [where]: stage.id, size }, query: { p: path, path, size: 48 } }
  }

/** Libraries and their content. */
export const libraryRoutes: Table = {
  ...under(self, {
    // Names without permission are left out, not rejected.
    'GET /api2/repo-tokens/': ({ id }) => ({ query: { repos: id } }),
    'POST /api/v2.1/items/': ({ id }) => ({ json: { repo_ids: [id], paths: ['/in.txt'] } }),
  }),
  ...under(otherwise(reads, 'absent'), {
    'DELETE /api/v2.1/starred-items/': async (stage, caller) => {
      const item = { repo_id: stage.id, path: '/in.txt' }
      await stage.once(`star ${caller}`, () =>
        stage.client(caller).post('/api/v2.1/starred-items/', { form: item }),
      )
      return { query: item }
    },
  }),
  ...under(reads, {
    'DELETE /api2/starredfiles/': ({ id }) => ({ query: { repo_id: id, p: '/in.txt' } }),
    'GET /api2/repo_history_changes/:repo_id/': ({ gone: commit_id }) => ({ query: { commit_id } }),
    [`GET ${V2}file/revision/`]: (stage) => ({ query: { p: '/in.txt', commit_id: stage.gone } }),
    [`GET ${V21}file/archive-entries/`]: async (stage) => ({ query: { p: await stage.archive() } }),
    [`GET ${V2}files/:file_id/blks/:block_id/download-link/`]: blockLink,
    [`GET ${V2}thumbnail/`]: pictured('repo_id', ''),
    'GET /thumbnail/:where/create/': pictured('where', ''),
    'GET /thumbnail/:where/:size/': pictured('where', '48/docs/picture.png'),
    'GET /api/v2.1/search-file/': ({ id }) => ({ query: { repo_id: id, q: 'in' } }),
    'GET /api/v2.1/smart-link/': ({ id }) => ({ query: { repo_id: id, path: '/in.txt', is_dir: 'false' } }),
    'GET /api/v2.1/smart-links/:token/': async (stage) => {
      const token = await stage.once('smart link', async () => {
        const query = { repo_id: stage.id, path: '/in.txt', is_dir: 'false' }
        const { smart_link: link } = (await stage.owner.get('/api/v2.1/smart-link/', query)).body
        return String(link).match(/[-0-9a-f]{36}/)?.[0] ?? String(link)
      })
      return { params: { token } }
    },
    'POST /api2/starredfiles/': ({ id }) => ({ form: { repo_id: id, p: '/in.txt' } }),
    'POST /api/v2.1/starred-items/': ({ id }) => ({ form: { repo_id: id, path: '/in.txt' } }),
    'POST /api/v2.1/monitored-repos/': ({ id }) => ({ form: { repo_id: id } }),
    [`POST ${V21}set-password/`]: (stage) => encrypted(stage, { password: 'a secret of many' }),
    [`DELETE ${V21}set-password/`]: (stage) => encrypted(stage),
    [`GET ${V21}tagged-files/:repo_tag_id/`]: tagged,
    [`POST ${V2}file/comments/`]: { ...inFile, form: { comment: 'a comment' } },
    [`GET ${V2}file/comments/:comment_id/`]: commented,
    [`POST ${V21}file/participants/`]: ({ owner }) => ({ json: { path: '/in.txt', emails: [owner.email] } }),
    [`DELETE ${V21}file/participant/`]: (stage, caller) => ({
      json: { path: '/in.txt', email: stage.client(caller).email },
    }),
  }),
  ...under(writes, {
    'PUT /api/v2.1/photos/dates/': async (stage) => ({
      json: { photos: [{ repo_id: stage.id, path: await stage.picture(), taken: '2024-05-06T07:08:09' }] },
    }),
    [`POST ${V21}repo-tags/`]: (stage) => ({ form: { name: stage.fresh(), color: '#ff8000' } }),
    [`PUT ${V21}repo-tags/:repo_tag_id/`]: async (stage) => ({
      ...(await tagged(stage)),
      form: { name: stage.fresh(), color: '#ff8000' },
    }),
    [`POST ${V21}repo-tags/:repo_tag_id/merge/`]: async (stage) => ({
      ...(await tagged(stage)),
      form: { into: (await stage.newTag()).repo_tag_id },
    }),
    [`DELETE ${V21}repo-tags/:repo_tag_id/`]: tagged,
    [`POST ${V21}file-tags/`]: async (stage) => ({
      form: { file_path: '/in.txt', repo_tag_id: (await stage.tag()).repo_tag_id },
    }),
    [`POST ${V21}file-tags/batch/`]: async (stage) => ({
      json: { file_paths: ['/in.txt'], add: [(await stage.newTag()).repo_tag_id] },
    }),
    [`DELETE ${V21}file-tags/:file_tag_id/`]: tagged,
    [`PUT ${V2}file/comments/:comment_id/`]: async (stage) => ({
      ...(await commented(stage)),
      form: { resolved: 'true' },
    }),
    [`POST ${V2}dir/`]: (stage) => ({ query: { p: `/${stage.fresh()}` }, form: { operation: 'mkdir' } }),
    [`POST ${V21}dir/`]: (stage) => ({ query: { p: `/${stage.fresh()}` }, form: { operation: 'mkdir' } }),
    [`POST ${V21}file/`]: (stage) => ({
      query: { p: `/${stage.fresh('.txt')}` },
      form: { operation: 'create' },
    }),
    [`POST ${V2}fileops/copy/`]: ({ id }) => ({
      query: { p: '/' },
      form: { dst_repo: id, dst_dir: '/docs/deep', file_names: 'in.txt' },
    }),
    [`POST ${V2}fileops/move/`]: ({ id }) => ({
      query: { p: '/' },
      form: { dst_repo: id, dst_dir: '/docs/deep', file_names: 'in.txt' },
    }),
    [`PUT ${V2}file/revert/`]: gone,
    [`PUT ${V2}dir/revert/`]: (stage) => ({ form: { p: '/docs', commit_id: stage.gone } }),
    [`POST ${V21}trash/revert-dirents/`]: (stage) => ({
      form: { commit_id: stage.gone, path: '/gone.txt' },
    }),
    [`POST ${V21}trash2/actions/revert/`]: () => ({ json: { action: '1-1' } }),
    [`POST ${V21}trash2/revert/`]: (stage) => ({ json: { [stage.gone]: ['/gone.txt'] } }),
    'POST /api/v2.1/repos/batch-rename-item/': ({ id }) => ({
      json: { repo_id: id, parent_dir: '/', dirents: ['in.txt'], new_names: ['in.txt'] },
    }),
    'DELETE /api/v2.1/repos/batch-delete-item/': ({ id }) => ({
      json: { repo_id: id, parent_dir: '/', dirents: ['in.txt'] },
    }),
    [`POST ${V21}file/extract-archive/`]: async (stage) => ({
      json: { p: await stage.archive(), dst_repo_id: stage.id, dst_parent_dir: '/docs' },
    }),
    'POST /api/v2.1/repos/sync-batch-copy-item/': (stage) => ({ json: selection(stage) }),
    'POST /api/v2.1/repos/sync-batch-move-item/': (stage) => ({ json: selection(stage) }),
    'POST /api/v2.1/repos/async-batch-copy-item/': (stage) => ({ json: selection(stage) }),
    'POST /api/v2.1/repos/async-batch-move-item/': (stage) => ({ json: selection(stage) }),
    'POST /api/v2.1/move-folder-merge/': ({ id }) => ({
      form: {
        src_repo_id: id,
        src_parent_dir: '/docs',
        src_dirent_name: 'deep',
        dst_repo_id: id,
        dst_parent_dir: '/',
      },
    }),
    'POST /api/v2.1/copy-move-task/': (stage) => ({
      form: { ...oneItem(stage), operation: 'move', dirent_type: 'file' },
    }),
  }),
  // A caller without write permission gets the rejection per item.
  ...under(
    { ...writes, reader: 'empty', groupMember: 'empty' },
    {
      'POST /api/v2.1/repos/batch-create-dir/': (stage) => ({
        json: { repo_id: stage.id, paths: [`/${stage.fresh()}`] },
      }),
      'POST /api/v2.1/repos/batch-copy-item/': (stage) => ({ json: paths(stage) }),
      'POST /api/v2.1/repos/batch-move-item/': (stage) => ({ json: paths(stage) }),
    },
  ),
  ...under(owns, {
    [`DELETE ${V2}file/comments/:comment_id/`]: commented,
    [`PUT ${V2}owner/`]: ({ cast }) => ({ form: { owner: cast.callers.leaver.email } }),
    [`PUT ${V21}set-password/`]: (stage) =>
      encrypted(stage, {
        operation: 'change-password',
        old_password: 'a secret of many',
        new_password: 'another secret of many',
      }),
    'POST /api/v2.1/deleted-repos/': async (stage, caller) => ({
      form: { repo_id: await stage.deleted(caller) },
    }),
    'DELETE /api/v2.1/deleted-repos/:repo_id/': async (stage, caller) => ({
      params: { repo_id: await stage.deleted(caller) },
    }),
    [`PUT ${V21}webhooks/:webhook_id/`]: hooked,
    [`DELETE ${V21}webhooks/:webhook_id/`]: hooked,
    [`GET ${V21}webhooks/:webhook_id/deliveries/`]: hooked,
  }),
  // Nothing was sent yet.
  ...under({ ...owns, owner: 'absent' } satisfies Policy, {
    [`POST ${V21}webhooks/:webhook_id/deliveries/:delivery_id/redeliver/`]: hooked,
  }),
  ...under(manages, {}),
}

async function tagged(stage: Stage): Promise<Sent> {
  return { params: await stage.tagOfFile() }
}

async function commented(stage: Stage): Promise<Sent> {
  return { params: { comment_id: await stage.comment() } }
}

async function hooked(stage: Stage): Promise<Sent> {
  return { params: await stage.webhook(), form: { url: 'http://127.0.0.1:9/other' } }
}
