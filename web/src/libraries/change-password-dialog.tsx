import { useState } from 'react'
import { CarrelError, changeLibraryPassword } from '../api/index.ts'
import { useUnlockError } from '../encryption/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, PasswordField, useToast } from '../ui/index.ts'
import { isUsable, NewPasswordFields, noPasswords } from './new-password-fields.tsx'

/** Changes the password of an encrypted library. */
export function ChangePasswordDialog(props: { libraryId: string; onClose: () => void }) {
  const texts = useTexts('libraries')
  const toast = useToast()
  const refusal = useUnlockError()
  const [older, setOlder] = useState('')
  const [passwords, setPasswords] = useState(noPasswords)

  async function change(): Promise<void> {
    try {
      await changeLibraryPassword(props.libraryId, older, passwords.first)
    } catch (error) {
      throw error instanceof CarrelError ? new Error(refusal(error)) : error
    }
    toast({ text: texts.passwordChanged })
  }

  return (
    <FormDialog
      title={texts.changePasswordTitle}
      submit={texts.changePassword}
      disabled={older === '' || !isUsable(passwords)}
      onSubmit={change}
      onClose={props.onClose}
    >
      <p className="muted">{texts.changePasswordText}</p>
      <PasswordField
        label={texts.oldPassword}
        autoFocus
        required
        value={older}
        onChange={(event) => setOlder(event.target.value)}
      />
      <NewPasswordFields
        label={texts.newPassword}
        hint={texts.encryptWarning}
        value={passwords}
        onChange={setPasswords}
      />
    </FormDialog>
  )
}
