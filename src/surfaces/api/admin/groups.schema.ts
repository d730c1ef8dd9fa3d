import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { briefGroup } from '../groups/groups.schema.ts'

export const group = kinds.record('AdminGroup', () => ({
  ...briefGroup,
  owner_name: kinds.text('The name of the owner. Empty if it was deleted.'),
  size: kinds.count('Bytes of the libraries that are shared with it.'),
  quota: kinds.literal(-2, { description: 'Groups have no quota.' }),
}))

export type AdminGroup = ValueOf<typeof group>

export const ofGroup = {
  group_id: kinds.integer('The id of the group.'),
  group_name: kinds.text('The name of the group.'),
}

export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
