import { Client } from '../../support/client.ts'
import { owns, type Policy, type Sent, type Table, under } from './policy.ts'
import { expectOk, type Stage } from './stage.ts'

/** Apps by their library token. API tokens of accounts are rejected here. */
const reads: Policy = {
  noToken: 'unauthorised',
  unknownToken: 'unauthorised',
  accountToken: 'unauthorised',
  deletedToken: 'unauthorised',
  readingApp: 'ok',
  writingApp: 'ok',
}
const writes: Policy = { ...reads, readingApp: 'denied' }

const V21 = '/api/v2.1/repos/:repo_id/repo-api-tokens/'
const VIA = '/api/v2.1/via-repo-token/'

const madeToken = (stage: Stage, app_name: string, permission: string): Promise<string> =>
  stage.once(`app ${app_name}`, async () => {
    const form = { app_name, permission }
    return expectOk(await stage.owner.post(V21.replace(':repo_id', stage.id), { form })).body.api_token
  })

async function tokenOf(stage: Stage, caller: string): Promise<string | undefined> {
  if (caller === 'noToken') return undefined
  if (caller === 'unknownToken') return '0'.repeat(40)
  if (caller === 'accountToken') return stage.owner.token
  const token = await madeToken(stage, caller, caller === 'readingApp' ? 'r' : 'rw')
  if (caller !== 'deletedToken') return token
  const url = `${V21.replace(':repo_id', stage.id)}${caller}/`
  await stage.once('deleted app', async () => expectOk(await stage.owner.delete(url)))
  return token
}

const by = (more: Sent | ((stage: Stage) => Sent) = {}) => {
  return async (stage: Stage, caller: string): Promise<Sent> => ({
    ...(typeof more === 'function' ? more(stage) : more),
    as: new Client(stage.owner.url, await tokenOf(stage, caller)),
  })
}
const app = (form: Sent['form'] = {}) => {
  return async (stage: Stage): Promise<Sent> => {
    await madeToken(stage, 'reports', 'r')
    return { params: { app_name: 'reports' }, form }
  }
}
const inFile: Sent = { query: { path: '/in.txt' } }
const into = { src_parent_dir: '/', dst_parent_dir: '/docs/deep' }

/** Library tokens, and the calls they permit. */
export const tokenRoutes: Table = {
  ...under(owns, {
    [`POST ${V21}`]: (stage) => ({ form: { app_name: stage.fresh(), permission: 'rw' } }),
    [`PUT ${V21}:app_name/`]: app({ permission: 'rw' }),
    [`DELETE ${V21}:app_name/`]: app(),
  }),
  ...under(reads, {
    [`GET ${VIA}repo-info/`]: by(),
    [`GET ${VIA}search-files/`]: by({ query: { q: 'in' } }),
    [`POST ${VIA}share-links/`]: by({ form: { path: '/in.txt' } }),
    [`GET ${VIA}dir/`]: by({ query: { path: '/docs' } }),
    [`GET ${VIA}file/`]: by(inFile),
    [`GET ${VIA}download-link/`]: by(inFile),
  }),
  ...under(writes, {
    [`POST ${VIA}dir/`]: by((stage) => ({
      query: { path: `/${stage.fresh()}` },
      form: { operation: 'mkdir' },
    })),
    [`DELETE ${VIA}dir/`]: by({ query: { path: '/docs/deep' } }),
    [`POST ${VIA}file/`]: by((stage) => ({
      query: { path: `/${stage.fresh('.txt')}` },
      form: { operation: 'create' },
    })),
    [`PUT ${VIA}file/`]: by({ ...inFile, form: { operation: 'lock' } }),
    [`DELETE ${VIA}file/`]: by(inFile),
    [`GET ${VIA}upload-link/`]: by({ query: { path: '/' } }),
    [`POST ${VIA}sync-batch-copy-item/`]: by({ json: { ...into, src_dirents: ['in.txt'] } }),
    [`POST ${VIA}sync-batch-move-item/`]: by({ json: { ...into, src_dirents: ['in.txt'] } }),
    [`POST ${VIA}move-dir/`]: by({
      json: { src_parent_dir: '/docs', src_dirent_name: 'deep', dst_parent_dir: '/' },
    }),
    [`DELETE ${VIA}batch-delete-item/`]: by({ json: { parent_dir: '/', dirents: ['in.txt'] } }),
  }),
}
