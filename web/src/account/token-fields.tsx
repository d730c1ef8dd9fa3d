import type { TokenPermission } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { SelectField } from '../ui/index.ts'

const permissions: readonly TokenPermission[] = ['r', 'rw', 'upload']
const lives = [7, 30, 90, 365]

/** What a token permits. */
export function PermissionSelect(props: {
  value: TokenPermission
  onChange: (permission: TokenPermission) => void
}) {
  const texts = useTexts('account')
  return (
    <SelectField
      label={texts.allows}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value as TokenPermission)}
    >
      {permissions.map((one) => (
        <option key={one} value={one}>
          {texts.permissions[one]}
        </option>
      ))}
    </SelectField>
  )
}

/** The life of a token in days; '' for no end. */
export function ExpirySelect(props: { value: string; onChange: (days: string) => void }) {
  const texts = useTexts('account')
  return (
    <SelectField
      label={texts.expires}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {lives.map((life) => (
        <option key={life} value={life}>
          {texts.expiryDays(life)}
        </option>
      ))}
      <option value="">{texts.neverExpires}</option>
    </SelectField>
  )
}
