import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeLink, type LinkItem, type LinkKind } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog } from '../ui/index.ts'
import {
  dayOf,
  expiryOf,
  isComplete,
  type LinkDraft,
  nameOfRights,
  newDraft,
  rightsNamed,
} from './link-draft.ts'
import { LinkFields } from './link-fields.tsx'
import { newRequest, requestDraftOf, requestOf } from './request-draft.ts'

/** Edits permission, password and expiry of a link, and what it asks of its visitors. */
export function EditLink(props: {
  kind: LinkKind
  link: LinkItem
  isDir: boolean
  mayWrite: boolean
  onClose: () => void
}) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const queries = useQueryClient()
  const [first] = useState(() => draftOf(link))
  const [draft, setDraft] = useState(first)
  const endChanged = draft.until !== first.until || draft.date !== first.date
  async function save(): Promise<void> {
    await changeLink(kind, link.token, {
      ...(endChanged && { expires: expiryOf(draft) }),
      ...(draft.rights !== first.rights && { permissions: rightsNamed[draft.rights] }),
      ...(passwordOf(draft) !== passwordOf(first) && { password: passwordOf(draft) }),
      ...(kind === 'upload' && { request: draft.asks ? requestOf(draft.request, link.request) : null }),
      description: draft.description.trim(),
    })
    await queries.invalidateQueries({ queryKey: ['links'] })
  }
  return (
    <FormDialog
      title={texts.editLink}
      submit={common.save}
      disabled={!isComplete(draft)}
      onSubmit={save}
      onClose={props.onClose}
    >
      <LinkFields
        kind={kind}
        isDir={props.isDir}
        mayWrite={props.mayWrite}
        draft={draft}
        onChange={setDraft}
      />
    </FormDialog>
  )
}

const passwordOf = ({ secured, password }: LinkDraft) => (secured ? password : '')

function draftOf(link: LinkItem): LinkDraft {
  return {
    ...newDraft,
    rights: nameOfRights(link.permissions),
    secured: link.password !== '',
    password: link.password,
    until: link.expire_date === '' ? 'never' : 'date',
    date: link.expire_date === '' ? '' : dayOf(new Date(link.expire_date)),
    description: link.description,
    asks: Boolean(link.request),
    request: link.request ? requestDraftOf(link.request) : newRequest,
  }
}
