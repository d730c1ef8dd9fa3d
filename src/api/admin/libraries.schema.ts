import { type Static, Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { linkTarget } from '../links/own-links.schema.ts'
import { adminLibrary, page } from './admin.schema.ts'

const deletedLibrary = kinds.record('AdminDeletedLibrary', {
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  owner: kinds.account,
  owner_name: kinds.displayName,
  delete_time: kinds.isoTime,
})

export type AdminDeletedLibrary = Static<typeof deletedLibrary>

const link = kinds.record('AdminLink', {
  token: kinds.text('The token of the link.'),
  ...linkTarget,
  is_dir: kinds.flag(),
  creator_email: kinds.account,
  creator_name: kinds.displayName,
  ctime: kinds.isoTime,
  view_cnt: kinds.count('How often it was opened.'),
  expire_date: kinds.text('When it ends, in ISO 8601, or empty.'),
  is_expired: kinds.flag(),
})

export type AdminLink = Static<typeof link>

const links = Type.Array(link)
const count = kinds.count('The number of links on all pages.')
const ofAccount = { owner: { description: 'Only libraries of this account.' } }
const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** Libraries and links, for administrators. */
export const adminLibrarySchemas = [
  operation(
    'GET /api/v2.1/admin/libraries/',
    {
      200: [
        json(
          kinds.record('AdminLibraries', { page_info: page, repos: Type.Array(adminLibrary) }),
          'A page of libraries, latest change first.',
        ),
        json(
          kinds.record('FilteredAdminLibraries', {
            name: kinds.text('The name that was sent, or empty.'),
            owner: kinds.text('The owner that was sent, or empty.'),
            repos: Type.Array(adminLibrary),
          }),
          'With `name` or `owner`, those that match, up to 1,000.',
        ),
      ],
    },
    {
      parameters: {
        ...ofAccount,
        name: { description: 'Only libraries whose name contains this text.' },
        order_by: { description: 'Largest first. Default: latest change first.' },
      },
    },
  ),
  operation(
    'POST /api/v2.1/admin/libraries/',
    { 200: json(adminLibrary, 'The new library.') },
    {
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        owner: { description: 'The account that owns it. Default: the caller.' },
      },
    },
  ),
  operation('GET /api/v2.1/admin/libraries/:repo_id/', { 200: json(adminLibrary, 'The library.') }),
  operation(
    'PUT /api/v2.1/admin/libraries/:repo_id/',
    { 200: json(adminLibrary, 'The changed library.') },
    {
      errors: [443],
      parameters: {
        status: { description: '`read-only` refuses all changes.' },
        name: { description: 'The new name.' },
        owner: { description: 'The account that becomes the owner.' },
        reshare: { description: 'Whether a transferred library keeps its shares.' },
      },
    },
  ),
  operation('DELETE /api/v2.1/admin/libraries/:repo_id/', done('The library is deleted.')),
  operation(
    'GET /api/v2.1/admin/search-library/',
    {
      200: json(
        kinds.record('FoundAdminLibraries', { page_info: page, repo_list: Type.Array(adminLibrary) }),
        'A page of libraries that match.',
      ),
    },
    { parameters: { query: { description: 'A part of the name, or an id.' } } },
  ),
  operation(
    'GET /api/v2.1/admin/trash-libraries/',
    {
      200: json(
        kinds.record('AdminDeletedLibraries', { page_info: page, repos: Type.Array(deletedLibrary) }),
        'A page of deleted libraries, newest first.',
      ),
    },
    { parameters: ofAccount },
  ),
  operation('DELETE /api/v2.1/admin/trash-libraries/', done('The libraries were purged.'), {
    parameters: ofAccount,
  }),
  operation('PUT /api/v2.1/admin/trash-libraries/:repo_id/', done('The library was restored.'), {
    errors: [443],
  }),
  operation('DELETE /api/v2.1/admin/trash-libraries/:repo_id/', done('The library was purged.')),
  operation('GET /api/v2.1/admin/share-links/', {
    200: json(
      kinds.record('AdminShareLinks', { share_link_list: links, count }),
      'A page of links, newest first.',
    ),
  }),
  operation('GET /api/v2.1/admin/share-links/:token/', { 200: json(link, 'The link.') }),
  operation('DELETE /api/v2.1/admin/share-links/:token/', done('The link is gone.')),
  operation('GET /api/v2.1/admin/upload-links/', {
    200: json(
      kinds.record('AdminUploadLinks', { upload_link_list: links, count }),
      'A page of links, newest first.',
    ),
  }),
  operation('GET /api/v2.1/admin/upload-links/:token/', { 200: json(link, 'The link.') }),
  operation('DELETE /api/v2.1/admin/upload-links/:token/', done('The link is gone.')),
]
