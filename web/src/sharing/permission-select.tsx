import type { SharePermission } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { SelectField } from '../ui/index.ts'

const permissions: readonly SharePermission[] = ['r', 'rw', 'admin']

/** Selects the permission of a share. `name` is for the accessible label. */
export function PermissionSelect(props: {
  value: SharePermission
  onChange: (permission: SharePermission) => void
  name?: string
  /** Everyone cannot have the permission to manage. */
  withoutAdmin?: boolean
}) {
  const texts = useTexts('sharing')
  const options = permissions
    .filter((one) => one !== 'admin' || !props.withoutAdmin)
    .map((one) => (
      <option key={one} value={one}>
        {texts.permissions[one]}
      </option>
    ))
  const change = (value: string) => props.onChange(value as SharePermission)
  if (props.name === undefined) {
    return (
      <SelectField
        label={texts.permission}
        value={props.value}
        onChange={(event) => change(event.target.value)}
      >
        {options}
      </SelectField>
    )
  }
  return (
    <select
      className="input sharing-permission"
      aria-label={texts.permissionOf(props.name)}
      value={props.value}
      onChange={(event) => change(event.target.value)}
    >
      {options}
    </select>
  )
}
