#!/usr/bin/env python3
"""What a pod of a Job is, for a shell: pod.py MANIFESTS JOB

Prints assignments: of the arrays command, environment ("NAME=VALUE"), secrets
("KEY TARGET"), claims and configs ("NAME PLACE"), empty (places), fatal (statuses), and
of user, group, grace, subdomain and indexed (1 or 0).
"""
import shlex
import sys

import yaml


def main():
    documents = list(yaml.safe_load_all(open(sys.argv[1], encoding='utf-8')))
    of = {(d['kind'], d['metadata']['name']): d for d in documents}
    job = of['Job', sys.argv[2]]['spec']
    pod = job['template']['spec']
    container, = pod['containers']
    environment = [f'{e["name"]}={e["value"]}' for e in container.get('env', [])]
    for source in container.get('envFrom', []):
        data = of['ConfigMap', source['configMapRef']['name']]['data']
        environment += [f'{k}={v}' for k, v in data.items()]
    volumes = {v['name']: v for v in pod['volumes']}
    arrays = {'secrets': [], 'claims': [], 'configs': [], 'empty': []}
    for mount in container['volumeMounts']:
        volume = volumes[mount['name']]
        if 'secret' in volume:
            arrays['secrets'] += [f'{i["key"]} {mount["mountPath"]}/{i["path"]}'
                                  for i in volume['secret']['items']]
        elif 'configMap' in volume:
            name = volume['configMap']['name']
            for file, text in of['ConfigMap', name]['data'].items():
                with open(file, 'w', encoding='utf-8') as out:
                    out.write(text)
                arrays['configs'].append(f'{file} {mount["mountPath"]}')
        elif 'emptyDir' in volume:
            arrays['empty'].append(mount['mountPath'])
        else:
            claim = volume['persistentVolumeClaim']['claimName']
            arrays['claims'].append(f'{claim} {mount["mountPath"]}')
    fatal = [status for rule in job['podFailurePolicy']['rules']
             if rule['action'] == 'FailJob'
             for status in rule['onExitCodes']['values']]
    arrays |= {'command': container['command'] + container['args'],
               'environment': environment, 'fatal': fatal}
    for name, values in arrays.items():
        print(f'{name}=({" ".join(shlex.quote(str(v)) for v in values)})')
    context = pod['securityContext']
    print(f'user={context["runAsUser"]} group={context["fsGroup"]} '
          f'grace={pod["terminationGracePeriodSeconds"]} '
          f'subdomain={pod.get("subdomain", "")} '
          f'indexed={int(job.get("completionMode") == "Indexed")}')


main()
