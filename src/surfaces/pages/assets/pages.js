// Uploads and archives of the pages links lead to. Everything else works without it.

const AT_ONCE = 2
const POLL_MS = 700
const ADDRESS_MS = 10 * 60_000
const IMAGE_RETRY_MS = [2000, 6000, 18_000]

const words = JSON.parse(document.body.dataset.words ?? '{}')

/** A text of the page's language, with values in the place of braces. */
const say = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key])

/** Loads a thumbnail again that did not come: the server may have been busy, and browsers do not retry images. */
function retryImage(image) {
  const { src } = image
  let attempts = 0
  const retry = () => {
    const ms = IMAGE_RETRY_MS[attempts]
    if (ms === undefined) return
    attempts += 1
    const again = () => {
      image.src = `${src}?attempt=${attempts}`
    }
    setTimeout(again, ms * (1 + Math.random() / 4))
  }
  image.addEventListener('error', retry)
  // It may have failed before this script ran.
  if (image.complete && image.naturalWidth === 0) retry()
}

function prepareUpload(area) {
  const input = area.querySelector('input[type=file]')
  const form = area.closest('[data-request]')
  const queue = new UploadQueue(area, form)
  if (form) prepareRequest(form, queue)
  input.addEventListener('change', () => {
    for (const file of input.files) queue.add(file, '')
    input.value = ''
  })
  const isFiles = (event) => event.dataTransfer?.types.includes('Files')
  let inside = 0
  const mark = (by) => {
    inside = Math.max(0, inside + by)
    area.classList.toggle('over', inside > 0)
  }
  // Anywhere on the page: a file dropped beside the area would replace the page.
  addEventListener('dragenter', (event) => isFiles(event) && mark(1))
  addEventListener('dragleave', (event) => isFiles(event) && mark(-1))
  addEventListener('dragover', (event) => isFiles(event) && event.preventDefault())
  addEventListener('drop', (event) => {
    if (!isFiles(event)) return
    event.preventDefault()
    mark(-inside)
    // All are taken before the first is read: the list is empty once this event is over.
    const dropped = [...event.dataTransfer.items]
      .filter((item) => item.kind === 'file')
      .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile())
    void addAll(queue, dropped)
  })
  addEventListener('beforeunload', (event) => queue.isBusy && event.preventDefault())
}

/** A file request: its files are sent with the form, in which visitors say what else it asks. */
function prepareRequest(form, queue) {
  const rows = [...form.querySelectorAll('[data-wanted]')]
  for (const row of rows) {
    const input = row.querySelector('input')
    input.addEventListener('change', () => {
      for (const file of input.files) queue.add(file, '', row)
      input.value = ''
    })
  }
  let isWarned = false
  queue.onChosen = () => {
    isWarned = false
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const missing = rows.filter((row) => !row.classList.contains('chosen'))
    if (queue.waiting.length === 0) queue.note(say('noneChosen'))
    else if (missing.length > 0 && !isWarned) {
      isWarned = true
      queue.note(say('missing', { names: missing.map((row) => row.dataset.wanted).join(', ') }))
    } else queue.release()
  })
}

/** Files, and folders with all that is in them. */
async function addAll(queue, dropped) {
  for (const one of dropped) {
    if (one instanceof File) queue.add(one, '')
    else if (one) await addEntry(queue, one, '')
  }
}

async function addEntry(queue, entry, folder) {
  if (entry.isFile) {
    queue.add(await new Promise((resolve, reject) => entry.file(resolve, reject)), folder)
    return
  }
  const reader = entry.createReader()
  const below = folder === '' ? entry.name : `${folder}/${entry.name}`
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    for (const child of some) await addEntry(queue, child, below)
  }
}

class UploadQueue {
  /** The files of a form wait until it is sent. */
  constructor(area, form) {
    this.area = area
    this.form = form
    this.isHeld = form !== null
    this.list = area.querySelector('.sent')
    this.status = area.querySelector('.status')
    this.waiting = []
    this.running = 0
    this.done = 0
    this.failed = 0
  }

  get isBusy() {
    return this.running > 0 || this.waiting.length > 0
  }

  /** `wanted` is the row of the file request that the file answers. */
  add(file, folder, wanted) {
    const row = this.makeRow(folder === '' ? file.name : `${folder}/${file.name}`)
    const job = { file, folder, row, wanted }
    this.waiting.push(job)
    if (this.form) this.hold(job)
    this.start()
  }

  /** Until the form is sent, a file can be taken out again. */
  hold(job) {
    const { row, file, wanted } = job
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'remove'
    button.textContent = '×'
    button.setAttribute('aria-label', say('remove', { name: file.name }))
    button.addEventListener('click', () => {
      this.waiting.splice(this.waiting.indexOf(job), 1)
      row.item.remove()
      if (!this.waiting.some((other) => other.wanted === wanted)) wanted?.classList.remove('chosen')
      this.area.querySelector('input[type=file]').focus()
      this.onChosen()
      this.tell()
    })
    row.bar.remove()
    row.state.replaceWith(button)
    row.button = button
    wanted?.classList.add('chosen')
    this.isHeld = true
    this.onChosen()
  }

  /** Sends the files that wait for the form, with what it says now. */
  release() {
    this.isHeld = false
    this.known = undefined
    for (const { row } of this.waiting) {
      row.button.replaceWith(row.state)
      row.item.append(row.bar)
    }
    this.start()
  }

  note(text) {
    this.status.textContent = text
  }

  start() {
    while (!this.isHeld && this.running < AT_ONCE && this.waiting.length > 0) {
      const job = this.waiting.shift()
      this.running += 1
      void this.send(job).finally(() => {
        this.running -= 1
        this.start()
        this.tell()
      })
    }
    this.tell()
  }

  async send({ file, folder, row }) {
    const onProgress = (part) => {
      row.bar.value = part
      row.state.textContent = part < 1 ? `${Math.floor(part * 100)} %` : say('saving')
    }
    try {
      await this.sendAgain(file, folder, onProgress)
      row.item.className = 'done'
      row.state.textContent = say('done')
      this.done += 1
    } catch (error) {
      row.item.className = 'failed'
      row.state.textContent = error.message
      this.failed += 1
    }
    row.bar.remove()
  }

  /** An address that has ended is asked for once more: the folder may have been renamed. */
  async sendAgain(file, folder, onProgress) {
    try {
      return await sendFile(await this.address(), file, folder, onProgress)
    } catch (error) {
      if (error.status !== 403 || this.known === undefined) throw error
      this.known = undefined
      return sendFile(await this.address(), file, folder, onProgress)
    }
  }

  /** Where to send files; asked for again after a while, because it ends, and the link may have ended too. */
  address() {
    if (this.known === undefined || Date.now() > this.known.until) {
      this.known = { until: Date.now() + ADDRESS_MS, url: this.askAddress() }
      this.known.url.catch(() => {
        this.known = undefined
      })
    }
    return this.known.url
  }

  async askAddress() {
    const { upload, token, path, root } = this.area.dataset
    const url = `${root}api/v2.1/${upload}-links/${token}/upload/?path=${encodeURIComponent(path)}`
    const answer = this.form
      ? await postJson(url, Object.fromEntries(new FormData(this.form)))
      : await getJson(url)
    const ticket = answer.upload_link.split('/').at(-1)
    return `${root}seafhttp/upload-api/${ticket}?ret-json=1`
  }

  makeRow(text) {
    const item = document.createElement('li')
    const name = document.createElement('span')
    const state = document.createElement('span')
    const bar = document.createElement('progress')
    name.className = 'name'
    name.textContent = text
    state.className = 'state'
    state.textContent = say('waiting')
    bar.max = 1
    bar.value = 0
    bar.setAttribute('aria-label', say('uploadOf', { name: text }))
    item.append(name, state, bar)
    this.list.append(item)
    return { item, state, bar }
  }

  tell() {
    const left = this.running + this.waiting.length
    const parts = [
      left > 0 && !this.isHeld && say('toGo', { count: left }),
      this.done > 0 && say('uploaded', { count: this.done }),
      this.failed > 0 && say('failed', { count: this.failed }),
    ]
    if (this.form && left === 0 && this.done > 0 && this.failed === 0) parts.push(say('thanks'))
    this.status.textContent = parts.filter(Boolean).join(' · ')
  }
}

function sendFile(url, file, folder, onProgress) {
  return new Promise((resolve, reject) => {
    const form = new FormData()
    form.append('parent_dir', '/')
    form.append('relative_path', folder)
    form.append('last_modify', new Date(file.lastModified).toISOString())
    form.append('file', file)
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.responseType = 'json'
    request.upload.addEventListener(
      'progress',
      ({ loaded, total }) => total > 0 && onProgress(loaded / total),
    )
    request.addEventListener('load', () => {
      if (request.status === 200) resolve()
      else reject(failure(request.status))
    })
    request.addEventListener('error', () => reject(new Error(say('broke'))))
    request.send(form)
  })
}

function failure(status) {
  return Object.assign(new Error(explain(status)), { status })
}

function explain(status) {
  if (status === 443) return say('noRoom')
  if (status === 442) return say('tooLarge')
  if (status === 440) return say('badName')
  if (status === 429) return say('tooMany')
  if (status === 403 || status === 404) return say('closed')
  return say('wrong')
}

function prepareArchive(form) {
  const button = form.querySelector('button')
  const status = form.querySelector('.status')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    status.textContent = say('packing')
    try {
      const ticket = await packArchive(form, status)
      status.textContent = ''
      location.assign(`${form.dataset.root}seafhttp/zip/${ticket}`)
    } catch (error) {
      status.textContent = error.message
    }
    button.disabled = false
  })
}

async function packArchive(form, status) {
  const { archive, path, root } = form.dataset
  const query = new URLSearchParams({ share_link_token: archive, path })
  const { zip_token: ticket } = await getJson(`${root}api/v2.1/share-link-zip-task/?${query}`)
  for (;;) {
    const { zipped, total, failed } = await getJson(`${root}api/v2.1/query-zip-progress/?token=${ticket}`)
    if (failed) throw new Error(say('notPacked'))
    if (zipped === total) return ticket
    status.textContent = say('packingOf', { done: zipped, total })
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function getJson(url, options) {
  const response = await fetch(url, options)
  if (!response.ok) throw failure(response.status)
  return response.json()
}

const postJson = (url, fields) => getJson(url, { method: 'POST', body: new URLSearchParams(fields) })

/** A time in the zone of the visitor. */
function showLocal(time) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: 'long',
    timeStyle: 'short',
  })
  time.textContent = format.format(new Date(time.dateTime))
}

for (const time of document.querySelectorAll('time[data-local]')) showLocal(time)
for (const area of document.querySelectorAll('[data-upload]')) prepareUpload(area)
for (const form of document.querySelectorAll('[data-archive]')) prepareArchive(form)
for (const image of document.querySelectorAll('img[loading=lazy]')) retryImage(image)
