import { type Static, Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { addedMembers, briefGroup, groupLibrary, member } from '../groups/groups.schema.ts'
import { page } from './admin.schema.ts'

const group = kinds.record('AdminGroup', {
  ...briefGroup,
  owner_name: kinds.text('The name of the owner. Empty if it was deleted.'),
  size: kinds.count('Bytes of the libraries that are shared with it.'),
  quota: Type.Literal(-2, { description: 'Groups have no quota.' }),
})

export type AdminGroup = Static<typeof group>

const ofGroup = {
  group_id: kinds.integer('The id of the group.'),
  group_name: kinds.text('The name of the group.'),
}

const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** Groups, for administrators. */
export const adminGroupSchemas = [
  operation(
    'GET /api/v2.1/admin/groups/',
    {
      200: json(
        kinds.record('AdminGroups', { groups: Type.Array(group), page_info: page }),
        'A page of groups.',
      ),
    },
    { parameters: { name: { description: 'Only groups whose name contains this text.' } } },
  ),
  operation(
    'POST /api/v2.1/admin/groups/',
    { 201: json(group, 'The new group.') },
    {
      parameters: {
        group_name: { required: true, description: 'The name of the group.' },
        group_owner: { description: 'The account that owns it. Default: the caller.' },
      },
    },
  ),
  operation('GET /api/v2.1/admin/groups/:group_id/', { 200: json(group, 'The group.') }),
  operation(
    'PUT /api/v2.1/admin/groups/:group_id/',
    { 200: json(group, 'The changed group.') },
    {
      parameters: {
        new_owner: { description: 'The account that becomes the owner.' },
        new_name: { description: 'The new name.' },
      },
    },
  ),
  operation('DELETE /api/v2.1/admin/groups/:group_id/', done('The group is gone.')),
  operation('GET /api/v2.1/admin/groups/:group_id/libraries/', {
    200: json(
      kinds.record('AdminGroupLibraries', {
        ...ofGroup,
        libraries: Type.Array(groupLibrary),
        page_info: page,
      }),
      'A page of libraries, latest change first.',
    ),
  }),
  operation('DELETE /api/v2.1/admin/groups/:group_id/libraries/:repo_id/', done('The share was ended.')),
  operation('GET /api/v2.1/admin/groups/:group_id/members/', {
    200: json(
      kinds.record('AdminGroupMembers', { ...ofGroup, members: Type.Array(member), page_info: page }),
      'A page of members.',
    ),
  }),
  operation(
    'POST /api/v2.1/admin/groups/:group_id/members/',
    { 200: json(addedMembers, 'The result for each account.') },
    { parameters: { email: { description: 'The accounts.' } } },
  ),
  operation(
    'PUT /api/v2.1/admin/groups/:group_id/members/:email/',
    { 200: json(member, 'The changed member.') },
    { parameters: { is_admin: { required: true, description: '`true` or `false`.' } } },
  ),
  operation('DELETE /api/v2.1/admin/groups/:group_id/members/:email/', done('The member was removed.')),
]
