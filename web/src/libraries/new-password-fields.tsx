import { useTexts } from '../texts/index.ts'
import { PasswordField } from '../ui/index.ts'

interface TwoPasswords {
  readonly first: string
  readonly second: string
}

export const noPasswords: TwoPasswords = { first: '', second: '' }

export const isUsable = ({ first, second }: TwoPasswords) => first !== '' && first === second

/** A new password with confirmation, because a typo would lock everyone out. */
export function NewPasswordFields(props: {
  label: string
  value: TwoPasswords
  onChange: (value: TwoPasswords) => void
  hint?: string
}) {
  const texts = useTexts('libraries')
  const { value, onChange } = props
  const differs = value.second !== '' && value.first !== value.second
  return (
    <>
      <PasswordField
        label={props.label}
        hint={props.hint}
        autoComplete="new-password"
        required
        value={value.first}
        onChange={(event) => onChange({ ...value, first: event.target.value })}
      />
      <PasswordField
        label={texts.repeatPassword}
        error={differs && texts.notTheSame}
        autoComplete="new-password"
        required
        value={value.second}
        onChange={(event) => onChange({ ...value, second: event.target.value })}
      />
    </>
  )
}
