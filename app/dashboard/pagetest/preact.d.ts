// What the page uses of page/preact.js, for the check of its types.

type Signal<T> = { value: T; peek(): T; subscribe(fn: (value: T) => void): () => void };

export function h(...args: any[]): any;
export function html(strings: TemplateStringsArray, ...values: any[]): any;
export function render(vnode: any, parent: Element): void;
export function signal<T>(value: T): Signal<T>;
export function computed<T>(fn: () => T): { readonly value: T; peek(): T };
export function batch(fn: () => void): void;
export function useState<T>(value: T): [T, (value: T | ((before: T) => T)) => void];
export function useRef<T>(value: T): { current: T };
export function useMemo<T>(make: () => T, inputs: any[]): T;
export function useEffect(run: () => void | (() => void), inputs?: any[]): void;
export function useLayoutEffect(run: () => void | (() => void), inputs?: any[]): void;
export function useErrorBoundary(fn: (error: any) => void): [any, () => void];
