// @ts-check
// Requests to lamplighter. Every failure has a sentence for people.

const base = '/global-dashboard/';
const tokenName = 'lamplighter-token';

// How long to wait for an answer, in ms. Lamplighter itself gives up on a server
// before that, so these are for a lamplighter that hangs.
export const quick = 15_000;
export const queued = 40_000; // what waits in the queue of a server, behind the tool that runs
export const ending = 120_000; // ending a server takes its time

// Failure is a request that did not succeed. status is 0 when lamplighter
// cannot be reached; answer is the body, where there was one. A request that
// its own signal ended rejects with an AbortError instead.
export class Failure extends Error {
  constructor(message, status, answer = null) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.answer = answer;
  }
}

const unreachable = 'Lamplighter does not answer. It may be restarting; otherwise start it with “lamplighter”.';
export const tokenNeeded = 'Lamplighter cannot tell who asks. Open this page with “lamplighter open”.';

// get and send take a signal that ends the request, and a limit in ms instead
// of quick.
export async function get(path, opts) {
  return ask(path, { method: 'GET' }, opts);
}

export async function send(method, path, body, opts) {
  const init = { method };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'Content-Type': 'application/json' };
  }
  return ask(path, init, opts);
}

export function instance(id) {
  const under = (route) => `instance/${encodeURIComponent(id)}/${route}`;
  return {
    get: (route, opts) => get(under(route), opts),
    post: (route, body, opts) => send('POST', under(route), body, opts),
    put: (route, body, opts) => send('PUT', under(route), body, opts),
  };
}

// request is fetch below the page's address, or of a path that begins with a
// slash, with the proof of who asks.
export function request(path, init = {}) {
  const headers = new Headers(init.headers);
  const token = sessionStorage.getItem(tokenName);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  return fetch(path.startsWith('/') ? path : base + path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...init, headers });
}

/** @param {{signal?: AbortSignal, limit?: number}} options */
async function ask(path, init, options = {}) {
  const { signal, limit = quick } = options;
  const late = AbortSignal.timeout(limit);
  let response, text;
  try {
    response = await request(path, { ...init, signal: signal ? AbortSignal.any([signal, late]) : late });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (late.aborted) throw new Failure(`Lamplighter did not answer within ${limit / 1000} s; try again.`, 0);
    throw new Failure(unreachable, 0);
  }
  return read(response.status, text);
}

// read turns the text of an answer into its value, or throws what it says.
export function read(status, text) {
  let answer;
  try {
    answer = text === '' ? null : JSON.parse(text);
  } catch {
    throw new Failure(`Lamplighter gave an answer that is not JSON (status ${status}).`, status);
  }
  if (status >= 200 && status < 300) return answer;
  throw new Failure(sentence(status, answer), status, answer);
}

// sentence is what to tell about an answer that is not a success.
export function sentence(status, answer) {
  if (status === 403 && /token/i.test(answer?.error ?? '')) return tokenNeeded;
  return answer?.error || `Lamplighter answered with status ${status} and no reason.`;
}

// takeToken keeps the token that `lamplighter open` puts into the address, for
// this tab only, and takes it out of the address.
export function takeToken(location = window.location, history = window.history) {
  const { token, rest } = splitToken(location.hash);
  if (!token) return;
  sessionStorage.setItem(tokenName, token);
  history.replaceState(null, '', location.pathname + location.search + rest);
}

// splitToken finds the token at the end of a fragment, #token=abc or
// #/24284/logs&token=abc.
export function splitToken(hash) {
  const found = /^#(?:(.*)&)?token=([^&/]*)$/.exec(hash);
  if (!found) return { token: '', rest: hash };
  return { token: found[2], rest: found[1] ? `#${found[1]}` : '' };
}
