import type { ReactNode } from 'react'
import { FormDialog } from './dialog.tsx'

/** Asks for confirmation before an action that cannot easily be undone. */
export function ConfirmDialog(props: {
  title: ReactNode
  text: ReactNode
  submit: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
}) {
  return (
    <FormDialog
      title={props.title}
      submit={props.submit}
      danger
      onSubmit={props.onConfirm}
      onClose={props.onClose}
    >
      <p>{props.text}</p>
    </FormDialog>
  )
}
