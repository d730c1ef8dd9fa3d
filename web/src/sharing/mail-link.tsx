import { useState } from 'react'
import { type LinkItem, type LinkKind, mailLink } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Field, FormDialog, TextField, useToast } from '../ui/index.ts'

const MAX_MESSAGE = 2000

/** Sends a link to addresses by mail. Addresses that were refused stay in the field. */
export function MailLink(props: { kind: LinkKind; link: LinkItem; onClose: () => void }) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const toast = useToast()
  const [addresses, setAddresses] = useState('')
  const [message, setMessage] = useState('')
  const list = addresses.split(/[\s,;]+/).filter(Boolean)
  async function send(): Promise<void> {
    const { success, failed } = await mailLink(kind, link.token, list, message)
    if (success.length > 0) toast({ text: texts.linkMailed(success.length) })
    if (failed.length === 0) return
    const refused = failed.map(({ email }) => email).join(', ')
    setAddresses(refused)
    throw new Error(texts.linkNotMailed(refused))
  }
  return (
    <FormDialog
      title={texts.mailLink}
      submit={texts.mailSubmit}
      disabled={list.length === 0}
      onSubmit={send}
      onClose={props.onClose}
    >
      <TextField
        label={texts.mailAddresses}
        hint={texts.mailAddressesHint}
        inputMode="email"
        value={addresses}
        onChange={(event) => setAddresses(event.target.value)}
      />
      <Field label={texts.mailMessage}>
        {(ids) => (
          <textarea
            {...ids}
            className="input"
            rows={3}
            maxLength={MAX_MESSAGE}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
