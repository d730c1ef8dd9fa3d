import { fail } from '../../../base/errors.ts'
import type { LibraryId } from '../../../base/objects/index.ts'
import { parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import {
  changeStatus,
  createLibrary,
  deleteLibrary,
  libraryExists,
  listLibraryPage,
  renameLibrary,
  transferLibrary,
} from '../../../libraries/library/index.ts'
import type { LibraryInfo } from '../../../libraries/registry/index.ts'
import { type Account, auditActor, parseEmail, roleAllows } from '../../../people/accounts/index.ts'
import type { AuditActor } from '../../../people/audit/index.ts'
import {
  accepting,
  optionalText,
  type Reader,
  rawText,
  required,
  text,
} from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { pageQuery } from '../common/paging.ts'
import { keepShares, libraryIdParam } from '../common/readers.ts'
import { adminLibrary, page as pageDescribed } from './admin.schema.ts'
import { adminLibrariesToWire, pageInfo } from './admin-wire.ts'
import { done, ofAccount } from './libraries.schema.ts'
import { type AdministrationServices, adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/libraries/'
const pathOfOne = '/api/v2.1/admin/libraries/:repo_id/'
const MAX_FOUND = 1000

const orders = { size: 'size', file_count: 'files' } as const

const orderBy: Reader<'updated' | 'size' | 'files'> = accepting(
  { type: 'string', enum: ['size', 'file_count'] },
  (fields, name) => {
    const sent = text()(fields, name)
    if (sent === '') return 'updated'
    if (sent !== 'size' && sent !== 'file_count') throw errorMessage(400, 'order_by invalid.')
    return orders[sent]
  },
)

const status: Reader<LibraryInfo['status'] | undefined> = accepting(
  { type: 'string', enum: ['normal', 'read-only'] },
  (fields, name) => {
    const sent = optionalText()(fields, name)
    if (sent === undefined || sent === 'normal' || sent === 'read-only') return sent
    throw errorMessage(400, 'status invalid.')
  },
)

/** A new name; undefined when none was sent. */
const newName: Reader<string | undefined> = (fields, name) => {
  if (!fields.has(name)) return undefined
  const parsed = parseName(rawText()(fields, name) ?? '')
  if (parsed === undefined) throw errorMessage(400, 'name invalid.')
  return parsed
}

export const adminLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists all libraries page by page, optionally filtered by name and owner.',
    compatibility: 'supported',
    callers: 'administrators',
    query: { ...pageQuery(100), order_by: orderBy, name: optionalText(), owner: optionalText() },
    responses: () => ({
      200: [
        json(
          kinds.record('AdminLibraries', { page_info: pageDescribed, repos: kinds.array(adminLibrary) }),
          'A page of libraries, latest change first.',
        ),
        json(
          kinds.record('FilteredAdminLibraries', {
            name: kinds.text('The name that was sent, or empty.'),
            owner: kinds.text('The owner that was sent, or empty.'),
            repos: kinds.array(adminLibrary),
          }),
          'With `name` or `owner`, those that match, up to 1,000.',
        ),
      ],
    }),
    details: () => ({
      parameters: {
        ...ofAccount,
        name: { description: 'Only libraries whose name contains this text.' },
        order_by: { description: 'Largest first. Default: latest change first.' },
      },
    }),
    async handle({ query }, services) {
      const { name, owner, page, per_page: perPage } = query
      const wanted = { deleted: false, orderBy: query.order_by }
      if (name || owner) {
        const ownerKey = owner ? ((await services.accounts.find(owner))?.key ?? -1) : undefined
        const found = { ...wanted, name: name || undefined, ownerKey }
        const { libraries } = await listLibraryPage(services.core, found, { page: 1, perPage: MAX_FOUND })
        const repos = await adminLibrariesToWire(services, libraries)
        return { name: name ?? '', owner: owner ?? '', repos }
      }
      const { libraries, more } = await listLibraryPage(services.core, wanted, { page, perPage })
      const repos = await adminLibrariesToWire(services, libraries)
      return { page_info: pageInfo(page, more), repos }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'admin',
    summary: 'Creates a library for an account, or for the caller.',
    compatibility: 'supported',
    body: { name: newName, owner: optionalText() },
    responses: () => ({ 200: json(adminLibrary, 'The new library.') }),
    details: () => ({
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        owner: { description: 'The account that owns it. Default: the caller.' },
      },
    }),
    async handle({ user, body, request }, services) {
      const name = body.name ?? refuseName()
      const owner = body.owner ? await services.accounts.get(body.owner) : user
      const options = { name, description: '' }
      const made = await createLibrary(services.core, owner, options, auditActor(user, request))
      return oneLibrary(services, made.id)
    },
  }),
  route({
    method: 'GET',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Describes a library.',
    compatibility: 'supported',
    callers: 'administrators',
    params: { repo_id: libraryIdParam },
    responses: () => ({ 200: json(adminLibrary, 'The library.') }),
    handle: ({ params }, services) => oneLibrary(services, params.repo_id),
  }),
  route({
    method: 'PUT',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Renames or transfers a library, or changes its status (read-only or normal).',
    compatibility: 'supported',
    callers: 'administrators',
    sample: { form: { name: 'Renamed' } },
    params: { repo_id: libraryIdParam },
    body: { status, name: newName, owner: optionalText('owner invalid.'), reshare: keepShares },
    responses: () => ({ 200: json(adminLibrary, 'The changed library.') }),
    details: () => ({
      errors: [443],
      parameters: {
        status: { description: '`read-only` refuses all changes.' },
        name: { description: 'The new name.' },
        owner: { description: 'The account that becomes the owner.' },
        reshare: { description: 'Whether a transferred library keeps its shares.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const { core } = services
      const by = auditActor(user, request)
      const library = await asAdministrator.open(core, user, params.repo_id)
      const owner = body.owner === undefined ? undefined : await newOwner(services, body.owner)
      if (owner?.key === library.info.ownerKey) {
        throw errorMessage(400, 'Library can not be transferred to owner.')
      }
      if (body.status !== undefined) {
        await changeStatus(core, library, body.status, by)
      }
      if (body.name !== undefined) await rename(services, user, params.repo_id, body.name, by)
      if (owner !== undefined) {
        await transferLibrary(core, library, owner, by, { keepShares: body.reshare })
      }
      return oneLibrary(services, params.repo_id)
    },
  }),
  route({
    method: 'DELETE',
    path: pathOfOne,
    auth: 'admin',
    summary: "Moves a library to its owner's deleted libraries. Idempotent.",
    compatibility: 'supported',
    callers: 'administrators',
    params: { repo_id: libraryIdParam },
    responses: () => done('The library is deleted.'),
    async handle({ user, params, request }, services) {
      const { core } = services
      if (!(await libraryExists(core, params.repo_id))) return { success: true }
      const library = await asAdministrator.open(core, user, params.repo_id)
      await deleteLibrary(core, library, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/search-library/',
    auth: 'admin',
    summary: 'Searches libraries by part of their name, or by id.',
    compatibility: 'supported',
    callers: 'administrators',
    sample: { query: { query: 'Kol' } },
    query: { query: required(), ...pageQuery(100) },
    responses: () => ({
      200: json(
        kinds.record('FoundAdminLibraries', {
          page_info: pageDescribed,
          repo_list: kinds.array(adminLibrary),
        }),
        'A page of libraries that match.',
      ),
    }),
    details: () => ({ parameters: { query: { description: 'A part of the name, or an id.' } } }),
    async handle({ query }, services) {
      const { page, per_page: perPage } = query
      const wanted = { deleted: false, orderBy: 'updated', text: query.query } as const
      const { libraries, more } = await listLibraryPage(services.core, wanted, { page, perPage })
      const found = await adminLibrariesToWire(services, libraries)
      return { page_info: pageInfo(page, more), repo_list: found }
    },
  }),
]

/** Throws library-not-found. */
async function oneLibrary(services: AdministrationServices, id: LibraryId) {
  const wanted = { deleted: false, orderBy: 'updated', id } as const
  const { libraries } = await listLibraryPage(services.core, wanted, { page: 1, perPage: 1 })
  const library = libraries[0] ?? fail({ code: 'library-not-found', id })
  const [shown] = await adminLibrariesToWire(services, [library])
  return shown
}

/** Reopened, because a library whose status was just reset can be renamed. */
async function rename(
  { core }: AdministrationServices,
  user: Account,
  id: LibraryId,
  name: string,
  by: AuditActor,
): Promise<void> {
  await renameLibrary(core, await asAdministrator.open(core, user, id), name, undefined, by)
}

async function newOwner({ accounts }: AdministrationServices, sent: string): Promise<Account> {
  const email = parseEmail(sent)
  if (email === undefined) throw errorMessage(400, 'owner invalid.')
  const owner = await accounts.get(email)
  if (roleAllows(owner.role, 'add-library')) return owner
  const role = `role of ${owner.email} is ${owner.role}`
  throw errorMessage(403, `Transfer failed: ${role}, can not add library.`)
}

function refuseName(): never {
  throw errorMessage(400, 'name invalid.')
}
