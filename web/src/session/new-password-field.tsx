import type * as CommonPasswords from 'virtual:common-passwords'
import { type ComponentProps, useEffect, useState } from 'react'
import { passwordLength } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { PasswordField } from '../ui/index.ts'

/**
 * A field for a new password of an account, which says while it is typed whether the server would accept it. `names` are those of the account, which are no
 * secret; without them the password is one that an administrator assigns, and may be common.
 */
export function NewPasswordField(
  props: { value: string; names?: readonly string[] } & ComponentProps<typeof PasswordField>,
) {
  const { value, names, ...rest } = props
  const texts = useTexts('common')
  const isCommon = useIsCommon(value, names)
  const shortest = passwordLength()
  const missing = shortest - Array.from(value.normalize('NFC')).length
  const rule = names === undefined ? texts.passwordShortest : texts.passwordRule
  function hint(): string {
    if (value === '') return rule(String(shortest))
    if (missing > 0) return texts.passwordMissing(missing)
    return isCommon === false ? texts.passwordFits : rule(String(shortest))
  }
  return (
    <PasswordField
      autoComplete="new-password"
      minLength={shortest}
      hint={<span aria-live="polite">{hint()}</span>}
      error={missing <= 0 && isCommon === true && texts.passwordCommon}
      value={value}
      {...rest}
    />
  )
}

/** Undefined until the rule is loaded, which nothing else needs. The server decides in any case. */
function useIsCommon(password: string, names: readonly string[] | undefined): boolean | undefined {
  const [rule, setRule] = useState<typeof CommonPasswords>()
  const needsRule = names !== undefined && password !== ''
  useEffect(() => {
    if (needsRule) void import('virtual:common-passwords').then(setRule, () => undefined)
  }, [needsRule])
  return names === undefined ? false : rule?.isCommonPassword(password, names)
}
