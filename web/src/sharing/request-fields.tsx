import type { FileRequest } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { CheckField, DateField, Field, SelectField, TextField } from '../ui/index.ts'
import { dayOf } from './link-draft.ts'
import { isListTooLong, MOST_FILES, type RequestDraft } from './request-draft.ts'

const askings: readonly FileRequest['name'][] = ['required', 'optional', 'no']

/** What an upload link asks of its visitors. Undefined: nothing. */
export function RequestFields(props: { draft: RequestDraft; onChange: (draft: RequestDraft) => void }) {
  const { draft } = props
  const texts = useTexts('sharing')
  const set = (change: Partial<RequestDraft>) => props.onChange({ ...draft, ...change })
  return (
    <fieldset className="sharing-request stack">
      <legend className="visually-hidden">{texts.fileRequest}</legend>
      <TextField
        label={texts.requestHeading}
        hint={texts.requestHeadingHint}
        maxLength={200}
        value={draft.heading}
        onChange={(event) => set({ heading: event.target.value })}
      />
      <Field
        label={texts.wantedFiles}
        hint={texts.wantedFilesHint}
        error={isListTooLong(draft) ? texts.wantedTooMany(MOST_FILES) : undefined}
      >
        {(ids) => (
          <textarea
            {...ids}
            className="input"
            rows={3}
            value={draft.files}
            onChange={(event) => set({ files: event.target.value })}
          />
        )}
      </Field>
      <div className="sharing-pair">
        <SelectField
          label={texts.visitorName}
          value={draft.name}
          onChange={(event) => set({ name: event.target.value as FileRequest['name'] })}
        >
          {askings.map((one) => (
            <option key={one} value={one}>
              {texts.askings[one]}
            </option>
          ))}
        </SelectField>
        <DateField
          label={texts.deadline}
          min={dayOf(new Date())}
          value={draft.deadline}
          onChange={(deadline) => set({ deadline })}
        />
      </div>
      <CheckField
        label={texts.askMessage}
        checked={draft.message}
        onChange={(event) => set({ message: event.target.checked })}
      />
      <CheckField
        label={texts.folderByName}
        disabled={draft.name !== 'required'}
        checked={draft.folders && draft.name === 'required'}
        onChange={(event) => set({ folders: event.target.checked })}
      />
    </fieldset>
  )
}
