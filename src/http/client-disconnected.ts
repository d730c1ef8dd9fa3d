/** Nobody is there to be answered, or to send the rest of a body. */
export class ClientDisconnected extends Error {
  override name = 'ClientGone'
  constructor() {
    super('The client closed the connection before it had its answer')
  }
}
